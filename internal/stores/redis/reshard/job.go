// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"context"
	"fmt"

	"github.com/opcrew/opcrew/internal/stores/redis/server"
)

// carryByJob starts a slot migration job at the owner of the slots, and waits until it is done. If ctx ends, the job
// continues: see Job.
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

// byJob moves the slots with a slot migration job. Redis and Valkey have different commands for jobs.
func (b *batch) byJob(ctx context.Context) error {
	if b.plan.ByTasks {
		return b.byTask(ctx)
	}
	if err := b.begin(ctx); err != nil {
		return err
	}
	return b.await(ctx)
}

// begin starts the job. If the answer is lost, the job may have started anyway, and the next read of the server shows
// it.
func (b *batch) begin(ctx context.Context) error {
	command := server.ClusterCommand("MIGRATESLOTS", "SLOTSRANGE")
	for _, r := range server.SlotsOf(b.slots...) {
		command = append(command, r.First, r.Last)
	}
	_, err := b.do(ctx, b.From.Address, append(command, "NODE", b.To.ID))
	if server.Refused(err, "unknown subcommand") {
		return fmt.Errorf("%w: %w", ErrNoJobs, err)
	}
	return err
}

// await polls the job until it has ended.
func (b *batch) await(ctx context.Context) error {
	for {
		answers, err := b.do(ctx, b.From.Address, server.ClusterCommand("GETSLOTMIGRATIONS"))
		if err != nil {
			return err
		}
		jobs, err := server.ParseJobs(answers[0])
		if err != nil {
			return err
		}
		job, found := b.own(jobs)
		switch {
		case !found:
			return fmt.Errorf("%s no longer has a job that moves these slots", b.From.Address)
		case job.State == "success":
			return nil
		case job.State == "failed":
			return fmt.Errorf("the slot migration job has failed: %s", job.Message)
		case job.Ended():
			return fmt.Errorf("another client has %s the slot migration job: %s", job.State, job.Message)
		}
		if err := b.sleep(ctx, jobPoll); err != nil {
			return err
		}
	}
}

// own returns the latest job that moves exactly these slots.
func (b *batch) own(jobs []server.Job) (server.Job, bool) {
	slots := server.SlotsOf(b.slots...).String()
	for _, job := range jobs {
		if !job.Import && job.To == b.To.ID && job.Slots.String() == slots {
			return job, true
		}
	}
	return server.Job{}, false
}
