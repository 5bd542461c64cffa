// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	// bytesPerJob bounds a job: anyone who stops a move waits for the one that goes on, one that fails starts
	// again, and the servers hold what is written meanwhile in memory.
	bytesPerJob = 64 << 20
	// jobPoll passes between two looks at a job.
	jobPoll = 50 * time.Millisecond
	// mostBehind is how much of what an end has got its replica may lack before a job brings it more, in bytes, and
	// shelterPatience how long that is waited for.
	mostBehind      = 1 << 20
	shelterPatience = 30 * time.Second
	// mostBehindByKeys is that for keys, which come in small parts: no more can be missing than after a job. Replicas tell
	// how far they are once a second (replication.c, replicationCron), so that less would be a bound of the rate.
	mostBehindByKeys = bytesPerJob
)

// ErrNoJobs reports that servers know of no jobs: slots are to be moved by their keys.
var ErrNoJobs = errors.New("the servers do not move slots by themselves")

// carryByJob has the end that owns the slots move them, and waits until it has. Nothing is undone if it is stopped: see Job.
func (b *batch) carryByJob(ctx context.Context) error {
	if err := b.shelter(ctx, mostBehind); err != nil {
		return err
	}
	counts, err := countKeys(ctx, b.Store, b.From.Address, b.slots)
	if err != nil {
		return err
	}
	keys := int64(0)
	for _, n := range counts {
		keys += n
	}
	if err := b.byJob(ctx); err != nil {
		return err
	}
	bytes := b.bytesPerSlot() * int64(len(b.slots))
	b.note(func(p *Progress) { p.Moved, p.Keys, p.Bytes = p.Moved+len(b.slots), p.Keys+keys, p.Bytes+bytes })
	return b.pause(ctx, bytes)
}

// byJob has the servers move the slots in their own way.
func (b *batch) byJob(ctx context.Context) error {
	if b.plan.ByTasks {
		return b.byTask(ctx)
	}
	if err := b.begin(ctx); err != nil {
		return err
	}
	return b.await(ctx)
}

// shelter waits until a replica of the end that gets the slots has what that has got so far: else all of it would be lost
// with one process. It may lack some bytes at most.
func (b *batch) shelter(ctx context.Context, most int64) error {
	for until := b.clock.Now().Add(shelterPatience); ; {
		answers, err := b.do(ctx, b.To.Address, Command{"INFO", "replication"})
		if err != nil {
			return err
		}
		lacks := unsheltered(fields(text(answers[0])), most)
		if lacks == "" {
			return nil
		}
		if b.clock.Now().After(until) {
			return fmt.Errorf("%s %s", b.To.Address, lacks)
		}
		if err := b.sleep(ctx, jobPoll); err != nil {
			return err
		}
	}
}

// unsheltered says what keeps a process from getting slots, by what INFO reports its replicas; "" if nothing does.
func unsheltered(info map[string]string, most int64) string {
	if info["role"] != "master" {
		return "is no primary any more"
	}
	written, _ := strconv.ParseInt(info["master_repl_offset"], 10, 64) // versions tell it alike
	least := int64(-1)
	for name, line := range info {
		if !strings.HasPrefix(name, "slave") || !strings.Contains(line, "state=online") {
			continue
		}
		for word := range strings.SplitSeq(line, ",") {
			if offset, is := strings.CutPrefix(word, "offset="); is {
				n, _ := strconv.ParseInt(offset, 10, 64) // as above
				least = max(least, n)
			}
		}
	}
	switch lag := written - least; {
	case least < 0:
		return "has no replica in sync"
	case lag > most:
		return fmt.Sprintf("has a replica that is %d bytes behind, and may be %d", lag, most)
	}
	return ""
}

// begin starts the job. Where the answer is lost it may have begun: the next look at the processes shows it.
func (b *batch) begin(ctx context.Context) error {
	command := clusterCommand("MIGRATESLOTS", "SLOTSRANGE")
	for _, r := range SlotsOf(b.slots...) {
		command = append(command, r.First, r.Last)
	}
	_, err := b.do(ctx, b.From.Address, append(command, "NODE", b.To.ID))
	if refused(err, "unknown subcommand") {
		return fmt.Errorf("%w: %w", ErrNoJobs, err)
	}
	return err
}

// await looks at the job until it has ended.
func (b *batch) await(ctx context.Context) error {
	for {
		answers, err := b.do(ctx, b.From.Address, clusterCommand("GETSLOTMIGRATIONS"))
		if err != nil {
			return err
		}
		jobs, err := parseJobs(answers[0])
		if err != nil {
			return err
		}
		job, found := b.own(jobs)
		switch {
		case !found:
			return fmt.Errorf("%s knows of no job of these slots any more", b.From.Address)
		case job.State == "success":
			return nil
		case job.State == "failed":
			return fmt.Errorf("their job has failed: %s", job.Message)
		case job.Ended():
			return fmt.Errorf("their job was %s by somebody: %s", job.State, job.Message)
		}
		if err := b.sleep(ctx, jobPoll); err != nil {
			return err
		}
	}
}

// own is the last job that is of exactly these slots.
func (b *batch) own(jobs []Job) (Job, bool) {
	slots := SlotsOf(b.slots...).String()
	for _, job := range jobs {
		if !job.Import && job.To == b.To.ID && job.Slots.String() == slots {
			return job, true
		}
	}
	return Job{}, false
}
