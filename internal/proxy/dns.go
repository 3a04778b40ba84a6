package proxy

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"hermes/internal/guard"
	"hermes/internal/guard/egress"
)

// Names are looked up for what speaks no proxy, and to keep names from being a way out: an allowed name is answered, any other
// is not asked about outside.
const (
	maxQuery  = 512 // bytes of a question: one without extensions has at most 273
	maxAtOnce = 32  // questions of a client at once; what is more is dropped, and asked again by the client
	ttl       = 30  // seconds an answer may be kept
	lookup    = 5 * time.Second
)

// ServeNames answers DNS questions that come by datagram until the client is closed or pc fails; it closes pc.
func (c *Client) ServeNames(pc net.PacketConn) error {
	stop := context.AfterFunc(c.ctx, func() { _ = pc.Close() })
	defer stop()
	defer pc.Close()
	var wait sync.WaitGroup
	defer wait.Wait()
	slots := make(chan struct{}, maxAtOnce)
	buf := make([]byte, maxQuery+1)
	for {
		n, from, err := pc.ReadFrom(buf)
		switch {
		case c.ctx.Err() != nil:
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		case err != nil, n > maxQuery:
			continue
		}
		query := append([]byte(nil), buf[:n]...)
		select {
		case slots <- struct{}{}:
		default:
			continue
		}
		wait.Go(func() {
			defer func() { <-slots }()
			if reply := c.resolved(query); reply != nil {
				_, _ = pc.WriteTo(reply, from)
			}
		})
	}
}

// resolved answers one question, or nil where there is nothing to answer to.
func (c *Client) resolved(query []byte) []byte {
	var p dnsmessage.Parser
	head, err := p.Start(query)
	if err != nil || head.Response || head.OpCode != 0 {
		return nil
	}
	q, err := p.Question()
	if err != nil {
		return reply(head, nil, dnsmessage.RCodeFormatError, nil)
	}
	// More than one question has no meaning, and something to hide.
	if _, err := p.Question(); !errors.Is(err, dnsmessage.ErrSectionDone) {
		return reply(head, nil, dnsmessage.RCodeFormatError, nil)
	}
	began := time.Now()
	t := egress.Request{Method: egress.Resolve, Host: strings.TrimSuffix(q.Name.String(), ".")}
	d := Decision{Client: c.name, Command: c.running(), Target: t}
	defer func() { d.Took = time.Since(began); c.o.Tell(d) }()

	if c.o.Policy == nil || q.Class != dnsmessage.ClassINET {
		d.Verdict = denied("name", "no name is answered")
		return reply(head, &q, dnsmessage.RCodeRefused, nil)
	}
	ruling := c.o.Policy.Judge(t)
	if d.Verdict = ruling.Verdict; ruling.Verdict.Action != guard.Allow {
		d.Verdict.Action = guard.Block
		return reply(head, &q, dnsmessage.RCodeRefused, nil)
	}
	// What is no address has no answer: records of other kinds carry keys and texts.
	if q.Type != dnsmessage.TypeA && q.Type != dnsmessage.TypeAAAA {
		return reply(head, &q, dnsmessage.RCodeSuccess, nil)
	}
	ctx, cancel := context.WithTimeout(c.ctx, lookup)
	defer cancel()
	addrs, err := c.lookup(ctx, ruling.Host)
	if err != nil {
		d.Err = err
		var gone *net.DNSError
		if errors.As(err, &gone) && gone.IsNotFound {
			return reply(head, &q, dnsmessage.RCodeNameError, nil)
		}
		return reply(head, &q, dnsmessage.RCodeServerFailure, nil)
	}
	if v := c.o.Policy.Answers(ruling.Host, 0, addrs); v.Action != guard.Allow {
		d.Verdict = v
		d.Verdict.Action = guard.Block
		return reply(head, &q, dnsmessage.RCodeRefused, nil)
	}
	return reply(head, &q, dnsmessage.RCodeSuccess, first(addrs))
}

// reply builds an answer. Addresses of the family that was not asked for are left out.
func reply(head dnsmessage.Header, q *dnsmessage.Question, code dnsmessage.RCode, addrs []netip.Addr) []byte {
	b := dnsmessage.NewBuilder(nil, dnsmessage.Header{
		ID: head.ID, Response: true, RecursionDesired: head.RecursionDesired, RecursionAvailable: true, RCode: code,
	})
	b.EnableCompression()
	if q == nil {
		out, _ := b.Finish()
		return out
	}
	_ = b.StartQuestions()
	_ = b.Question(*q)
	_ = b.StartAnswers()
	h := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: ttl}
	for _, a := range addrs {
		switch a = a.Unmap(); {
		case a.Is4() && q.Type == dnsmessage.TypeA:
			_ = b.AResource(h, dnsmessage.AResource{A: a.As4()})
		case a.Is6() && q.Type == dnsmessage.TypeAAAA:
			_ = b.AAAAResource(h, dnsmessage.AAAAResource{AAAA: a.As16()})
		}
	}
	out, err := b.Finish()
	if err != nil {
		return nil
	}
	return out
}
