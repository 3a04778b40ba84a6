package safehttp

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
)

// trustConfig makes the TLS settings of one transport.
type trustConfig func() *tls.Config

// config reads the certificates to believe. Where they cannot be read, those of the system count, and the owner is told.
func (t Trust) config(tell func(string)) trustConfig {
	var roots *x509.CertPool
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		pool := x509.NewCertPool()
		if err == nil && !pool.AppendCertsFromPEM(pem) {
			err = errors.New("no certificate in it")
		}
		if err != nil {
			tell("read certificates " + t.CAFile + ": " + err.Error() + "; those of the system are believed instead")
		} else {
			roots = pool
		}
	}
	if t.Insecure {
		tell("certificates are not checked: ssl_verify is false")
	}
	return func() *tls.Config {
		return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, InsecureSkipVerify: t.Insecure}
	}
}
