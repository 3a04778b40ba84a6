package sqlite

import (
	"context"
	"database/sql/driver"
)

// connector opens connections without the driver's global name.
type connector struct {
	driver driver.Driver
	name   string
}

func (c connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.name) }

func (c connector) Driver() driver.Driver { return c.driver }
