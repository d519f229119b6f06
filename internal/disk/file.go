package disk

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// A file is one line with the version and a checksum, one line of JSON, and the body. Its time of change is when it
// expires.

// head is the second line.
type head[V any] struct {
	Name  string // of the file
	Till  time.Time
	Value V
}

var errNotOurs = errors.New("not a file of this cache")

// first is the first line of a file that goes on with rest. Its number is that of the format.
func (c *Cache[V]) first(rest []byte) string {
	return fmt.Sprintf("familiar 1 %s %d %x", c.config.Kind, c.config.Version, sha256.Sum256(rest))
}

// parse reads the file called name. The body is part of data.
func (c *Cache[V]) parse(data []byte, name string) (Entry[V], error) {
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	if string(first) != c.first(rest) {
		return Entry[V]{}, errNotOurs
	}
	second, body, _ := bytes.Cut(rest, []byte("\n"))
	var h head[V]
	if err := json.Unmarshal(second, &h); err != nil {
		return Entry[V]{}, err
	}
	if h.Name != name {
		return Entry[V]{}, errNotOurs
	}
	return Entry[V]{Value: h.Value, Body: body, Till: h.Till}, nil
}

func (c *Cache[V]) format(name string, e Entry[V]) ([]byte, error) {
	rest, err := json.Marshal(head[V]{Name: name, Till: e.Till, Value: e.Value})
	if err != nil {
		return nil, err
	}
	rest = append(append(rest, '\n'), e.Body...)
	return append([]byte(c.first(rest)+"\n"), rest...), nil
}

// load reads a file that is no larger than one of ours can be.
func (c *Cache[V]) load(name string) ([]byte, error) {
	info, err := c.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || !isOwn(info) || info.Size() > c.config.Bytes {
		return nil, errNotOurs
	}
	file, err := c.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(file, data); err != nil {
		return nil, errNotOurs // shorter than it was
	}
	return data, nil
}

// place writes a file under one name and then gives it another, so that nobody ever reads half of it.
func (c *Cache[V]) place(temp, name string, data []byte, till time.Time) error {
	file, err := c.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := c.root.Chtimes(temp, till, till); err != nil {
		return err
	}
	return c.root.Rename(temp, name)
}
