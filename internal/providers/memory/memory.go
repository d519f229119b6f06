// Package memory recalls.
package memory

import (
	"context"
	"slices"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// Platform says who may read what: Discord. Package discord says more.
type Platform interface {
	// Readable returns which channels a person may read now and, where an audience is named, all who read that channel.
	Readable(ctx context.Context, guildID string, who turn.Reader, audience string, channels ...string) map[string]bool
}

// Provider is the context provider. Its exported fields are set before first use and not changed after.
type Provider struct {
	Store    *store.DB
	Platform Platform
	Zone     *time.Location
	Now      func() time.Time
}

func (p *Provider) readable(ctx context.Context, req turn.Request) (ids []string, err error) {
	audience := req.ChannelID
	if req.Private {
		audience = ""
	}
	for id, may := range p.Platform.Readable(ctx, req.GuildID, req.Reader, audience) {
		if may {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

func (p *Provider) now() time.Time {
	now := time.Now()
	if p.Now != nil {
		now = p.Now()
	}
	if p.Zone == nil {
		return now.UTC()
	}
	return now.In(p.Zone)
}
