// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostiletest

import (
	"runtime"
	"time"
)

// Cost is the largest heap and number of goroutines of a process during some time.
type Cost struct {
	Heap       uint64
	Goroutines int
}

// Watch samples the heap and the goroutines for some time, and returns the largest values.
func Watch(during time.Duration) Cost {
	var most Cost
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(during); time.Now().Before(end); <-tick.C {
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		most.Heap, most.Goroutines = max(most.Heap, now.HeapInuse), max(most.Goroutines, runtime.NumGoroutine())
	}
	return most
}

// Kept returns the heap and the goroutines that are left after a garbage collection.
func Kept() Cost {
	runtime.GC()
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	return Cost{now.HeapAlloc, runtime.NumGoroutine()}
}
