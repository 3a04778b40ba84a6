//go:build unix

package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// noWait makes opening a pipe return at once.
const noWait = syscall.O_NONBLOCK

// own gives a file the owner and group of another. Where that cannot be, nothing may be replaced.
func own(f *os.File, like fs.FileInfo) error {
	want, ok := like.Sys().(*syscall.Stat_t)
	info, err := f.Stat()
	if err != nil {
		return err
	}
	have, ok2 := info.Sys().(*syscall.Stat_t)
	if !ok || !ok2 {
		return errors.New("its owner is not known")
	}
	if want.Uid == have.Uid && want.Gid == have.Gid {
		return nil
	}
	if err := f.Chown(int(want.Uid), int(want.Gid)); err != nil {
		return fmt.Errorf("its owner (%d:%d) cannot be kept: %w", want.Uid, want.Gid, bare(err))
	}
	return nil
}

// syncFolder syncs a directory. File systems that cannot do it say EINVAL.
func syncFolder(f *os.File) error {
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}
