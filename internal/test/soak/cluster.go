package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// cluster is a PostgreSQL server of the driver's own, on a socket. PostgreSQL does not run as root, so then its user does.
type cluster struct {
	dir string // holds its data and its socket
	bin string // directory of its programs
	as  *syscall.SysProcAttr
}

// newCluster starts a server with an empty database "fleet".
func newCluster(ctx context.Context, dir string) (*cluster, error) {
	c, err := clusterIn(dir)
	if err == nil {
		err = c.run(ctx, "initdb", "-D", c.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C")
	}
	if err == nil {
		err = c.start(ctx)
	}
	if err == nil {
		err = c.run(ctx, "createdb", "-h", dir, "-U", "postgres", "fleet")
	}
	return c, err
}

// clusterIn makes the directory of a server.
func clusterIn(dir string) (*cluster, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return nil, errors.New("fleet needs Debian's postgresql, or -database")
	}
	c := &cluster{dir: dir, bin: filepath.Dir(slices.Max(found))}
	if err := os.Mkdir(dir, 0o711); err != nil || os.Getuid() != 0 {
		return c, err
	}
	owner, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, _ := strconv.Atoi(owner.Uid)
	gid, _ := strconv.Atoi(owner.Gid)
	c.as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return c, errors.Join(os.Chown(dir, uid, gid), os.Chmod(filepath.Dir(dir), 0o711))
}

func (c *cluster) data() string { return filepath.Join(c.dir, "data") }

// run runs one of PostgreSQL's programs.
func (c *cluster) run(ctx context.Context, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(c.bin, program), args...)
	cmd.Dir, cmd.SysProcAttr = c.dir, c.as
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", program, err, said)
	}
	return nil
}

// start starts the server with settings, and waits for it.
func (c *cluster) start(ctx context.Context, settings ...string) error {
	options := "-c listen_addresses= -c unix_socket_directories=" + c.dir
	for _, s := range settings {
		options += " -c " + s
	}
	return c.run(ctx, "pg_ctl", "-D", c.data(), "-l", filepath.Join(c.dir, "log"), "-w", "-o", options, "start")
}

// revive starts the server if it has ended.
func (c *cluster) revive(ctx context.Context) error {
	if c.run(ctx, "pg_ctl", "-D", c.data(), "status") == nil {
		return nil
	}
	return c.start(ctx)
}

// stop ends the server at once, as a crash does.
func (c *cluster) stop(ctx context.Context) error {
	return c.run(ctx, "pg_ctl", "-D", c.data(), "-m", "immediate", "-w", "stop")
}

// copied starts another server that follows this one. From then on a commit of this one waits for it.
func (c *cluster) copied(ctx context.Context, dir string) (*cluster, error) {
	to, err := clusterIn(dir)
	if err == nil {
		err = to.run(ctx, "pg_basebackup", "-h", c.dir, "-U", "postgres", "-D", to.data(), "-R", "-c", "fast")
	}
	if err == nil {
		err = to.start(ctx)
	}
	if err == nil {
		err = c.run(ctx, "psql", "-qh", c.dir, "-U", "postgres", "-c", "ALTER SYSTEM SET synchronous_standby_names = '*'", "-c", "SELECT pg_reload_conf()")
	}
	return to, err
}

// promote makes a server that follows another one independent.
func (c *cluster) promote(ctx context.Context) error {
	return c.run(ctx, "pg_ctl", "-D", c.data(), "-w", "promote")
}

// address returns the address of the database on some servers. One of them can be written.
func address(all ...*cluster) string {
	hosts, ports := all[0].dir, "5432"
	for _, c := range all[1:] {
		hosts, ports = hosts+","+c.dir, ports+",5432"
	}
	return "postgres://postgres@/fleet?host=" + hosts + "&port=" + ports + "&target_session_attrs=read-write"
}
