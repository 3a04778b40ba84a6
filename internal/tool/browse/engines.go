package browse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"hermes/internal/safehttp"
	"hermes/internal/secret"
)

// maxHitList is what an engine may answer, in bytes.
const maxHitList = 4 << 20

// SearXNG searches with a SearXNG of the owner's own.
type SearXNG struct {
	Client *safehttp.Client // with Base among its origins
	Base   string
}

// Name implements Engine.
func (SearXNG) Name() string { return "searxng" }

// Search implements Engine. SearXNG has no number of results to ask for.
func (s SearXNG) Search(ctx context.Context, query string, _ int) ([]Hit, error) {
	base, err := url.Parse(strings.TrimRight(strings.TrimSpace(s.Base), "/") + "/search")
	if err != nil {
		return nil, errors.New("SEARXNG_URL is no URL")
	}
	base.RawQuery = url.Values{"q": {query}, "format": {"json"}}.Encode()
	var out struct {
		Results []struct{ Title, URL, Content, PublishedDate string }
	}
	err = ask(ctx, s.Client, safehttp.Request{URL: base.String(), Header: map[string]string{"Accept": "application/json"}}, &out)
	var status statusError
	if errors.As(err, &status) && status == 403 {
		return nil, errors.New("it answers 403: json is not among the search.formats of its settings.yml")
	}
	var hits []Hit
	for _, r := range out.Results {
		hits = append(hits, Hit{r.Title, r.URL, r.Content, r.PublishedDate})
	}
	return hits, err
}

// Brave searches with the Brave Search API.
type Brave struct {
	Client *safehttp.Client
	Base   string // empty: the API's own
	Key    secret.String
}

// BraveHost is where the API is.
const BraveHost = "api.search.brave.com"

// Name implements Engine.
func (Brave) Name() string { return "brave" }

// Search implements Engine.
func (b Brave) Search(ctx context.Context, query string, n int) ([]Hit, error) {
	base := firstOf(b.Base, "https://"+BraveHost)
	var out struct {
		Web struct {
			Results []struct {
				Title, URL, Description string
				Date                    string `json:"page_age"`
			}
		}
	}
	err := ask(ctx, b.Client, safehttp.Request{
		URL:    base + "/res/v1/web/search?" + url.Values{"q": {query}, "count": {strconv.Itoa(min(n, 20))}}.Encode(),
		Header: map[string]string{"Accept": "application/json", "X-Subscription-Token": b.Key.Reveal()},
	}, &out)
	var hits []Hit
	for _, r := range out.Web.Results {
		hits = append(hits, Hit{r.Title, r.URL, r.Description, r.Date})
	}
	return hits, err
}

// Tavily searches with the Tavily API.
type Tavily struct {
	Client *safehttp.Client
	Base   string // empty: the API's own
	Key    secret.String
}

// TavilyHost is where the API is.
const TavilyHost = "api.tavily.com"

// Name implements Engine.
func (Tavily) Name() string { return "tavily" }

// Search implements Engine.
func (t Tavily) Search(ctx context.Context, query string, n int) ([]Hit, error) {
	base := firstOf(t.Base, "https://"+TavilyHost)
	body, err := json.Marshal(map[string]any{"query": query, "max_results": min(n, 20)})
	if err != nil {
		return nil, err
	}
	var out struct {
		Results []struct {
			Title, URL, Content string
			Date                string `json:"published_date"`
		}
	}
	err = ask(ctx, t.Client, safehttp.Request{URL: base + "/search", Body: body, Header: map[string]string{
		"Accept": "application/json", "Content-Type": "application/json", "Authorization": "Bearer " + t.Key.Reveal(),
	}}, &out)
	var hits []Hit
	for _, r := range out.Results {
		hits = append(hits, Hit{r.Title, r.URL, r.Content, r.Date})
	}
	return hits, err
}

// statusError is an answer that is none.
type statusError int

func (s statusError) Error() string {
	switch {
	case s == 401 || s == 403:
		return fmt.Sprintf("it answers %d: the key is not accepted", int(s))
	case s == 402 || s == 429 || s == 432 || s == 433:
		return fmt.Sprintf("it answers %d: the limit of your plan is reached", int(s))
	}
	return fmt.Sprintf("it answers %d", int(s))
}

// ask sends a request and reads the JSON that comes back.
func ask(ctx context.Context, c *safehttp.Client, r safehttp.Request, into any) error {
	resp, err := c.Send(ctx, r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != 200 {
		return statusError(resp.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxHitList+1))
	switch {
	case err != nil:
		return err
	case len(body) > maxHitList:
		return safehttp.ErrTooLarge
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("read its answer: %w", err)
	}
	return nil
}
