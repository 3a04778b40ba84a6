package config

import (
	"reflect"
	"slices"
	"strings"
)

// bind fills the typed settings from the values.
func (s *Snapshot) bind() {
	fill(reflect.ValueOf(&s.Settings).Elem(), func(name string) any {
		v, _ := s.values[name]
		return v.Value
	})
	set := &s.Settings
	// Two places, either of which switches it on. A variable decides alone.
	if s.values["security.allow_private_urls"].Source.Kind < FromEnvFile {
		set.Security.AllowPrivateURLs = set.Security.AllowPrivateURLs || set.Security.BrowserPrivate
	}
	if s.values["gateway.allow_all_users"].Source.Kind < FromEnvFile {
		set.Chats.AllowAll = set.Chats.AllowAll || set.Chats.AllowAllTop
	}
	set.Hooks, set.MCP, set.Providers = map[string][]Hook{}, map[string]MCP{}, map[string]Provider{}
	set.Chats.Platforms = map[string]Platform{}
	if s.doc != nil {
		for _, e := range s.doc.entries {
			s.bindOpen(e)
		}
	}
}

// bindOpen fills what has a name of the owner's choice in it.
func (s *Snapshot) bindOpen(e entry) {
	set := &s.Settings
	section, rest, _ := strings.Cut(e.name, ".")
	switch {
	case e.name == "hooks.outbound":
		set.Outbound = e.value
	case e.name == "approvals.command_approval_required":
		set.Approvals.Required, _ = requiredOf(e.node)
	case section == "hooks":
		set.Hooks[rest], _ = hooksOf(e.node)
	case section == "mcp_servers":
		name, field := cutLast(rest)
		m, ok := set.MCP[name]
		if !ok {
			m = MCP{Enabled: true, Timeout: 60}
		}
		setField(field, e.value, map[string]any{"command": &m.Command, "args": &m.Args, "env": &m.Env, "url": &m.URL,
			"headers": &m.Headers, "enabled": &m.Enabled, "timeout": &m.Timeout})
		set.MCP[name] = m
	case section == "providers":
		name, field := cutLast(rest)
		p, ok := set.Providers[name]
		if !ok {
			p = Provider{Verify: true}
		}
		setField(field, e.value, map[string]any{"base_url": &p.BaseURL, "api_mode": &p.API, "key_env": &p.KeyEnv, "headers": &p.Headers,
			"models": &p.Models, "context_length": &p.Context, "ssl_ca_cert": &p.CACert, "ssl_verify": &p.Verify})
		set.Providers[name] = p
	case section == "platforms" || slices.Contains(platforms, section):
		name, field := cutLast(strings.TrimPrefix(e.name, "platforms."))
		p := set.Chats.Platforms[name]
		setField(field, e.value, map[string]any{"unauthorized_dm_behavior": &p.Strangers,
			"unauthorized_dm_decline_message": &p.Decline})
		set.Chats.Platforms[name] = p
	}
}

// cutLast cuts a name at its last dot; without one all of it stands before.
func cutLast(s string) (before, after string) {
	i := strings.LastIndexByte(s, '.')
	if i < 0 {
		return s, ""
	}
	return s[:i], s[i+1:]
}

func setField(field string, value any, into map[string]any) {
	if to, ok := into[field]; ok {
		reflect.ValueOf(to).Elem().Set(reflect.ValueOf(value))
	}
}

// fill sets each tagged field. The test of the table sees to it that kinds and types agree.
func fill(v reflect.Value, value func(key string) any) {
	t := v.Type()
	for i := range t.NumField() {
		field, name := v.Field(i), t.Field(i).Tag.Get("key")
		switch {
		case name != "":
			if x := value(name); x != nil {
				field.Set(reflect.ValueOf(x))
			}
		case field.Kind() == reflect.Struct:
			fill(field, value)
		}
	}
}
