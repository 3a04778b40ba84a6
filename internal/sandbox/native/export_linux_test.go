package native

// Settle waits until nothing is made or taken down in the background.
func (b *Backend) Settle() { b.pool.busy.Wait() }

// Waiting tells how many sandboxes wait.
func (b *Backend) Waiting() int {
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	return len(b.pool.waiting)
}
