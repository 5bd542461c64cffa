// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"context"
	"fmt"

	"github.com/opcrew/opcrew/internal/stores/redis/server"
)

// mostRetries is the number of failures after which a job of Redis is cancelled. After a brief fault, the servers' own
// retry is better than a new job.
const mostRetries = 3

// byTask makes the destination import the slots with a job of Redis, and waits until it is done. After a stop or a lost
// answer, the job continues, and the next read of the server shows it.
func (b *batch) byTask(ctx context.Context) error {
	command := server.ClusterCommand("MIGRATION", "IMPORT")
	for _, r := range server.SlotsOf(b.slots...) {
		command = append(command, r.First, r.Last)
	}
	answers, err := b.do(ctx, b.To.Address, command)
	if server.Refused(err, "unknown subcommand") {
		return fmt.Errorf("%w: %w", ErrNoJobs, err)
	}
	if err != nil {
		return err
	}
	return b.awaitTask(ctx, server.Text(answers[0]))
}

// awaitTask polls a job until it has ended. It cancels a job that keeps failing, because the servers would retry it
// forever.
func (b *batch) awaitTask(ctx context.Context, id string) error {
	failures := 0
	for failing := false; ; {
		job, err := b.task(ctx, id)
		switch {
		case err != nil:
			return err
		case job.State == "completed":
			return nil
		case job.Ended():
			return fmt.Errorf("the slot migration job was %s: %s", job.State, job.Message)
		case job.Retried && !failing:
			failures++
		}
		if failing = job.Retried; failures >= mostRetries {
			cancel := CancelJob{Address: b.To.Address, Name: id}
			return errJob(job, cancel.Apply(ctx, b.Store))
		}
		if err := b.sleep(ctx, jobPoll); err != nil {
			return err
		}
	}
}

func errJob(job server.Job, cancelled error) error {
	if cancelled != nil {
		return fmt.Errorf("the slot migration job keeps failing: %s; cancelling the job failed too: %w", job.Message, cancelled)
	}
	return fmt.Errorf("the slot migration job has failed: %s", job.Message)
}

// task returns the job as the destination reports it.
func (b *batch) task(ctx context.Context, id string) (server.Job, error) {
	answers, err := b.do(ctx, b.To.Address, server.ClusterCommand("MIGRATION", "STATUS", "ID", id))
	if err != nil {
		return server.Job{}, err
	}
	jobs, err := server.ParseTasks(answers[0])
	if err == nil && len(jobs) != 1 {
		err = fmt.Errorf("%s no longer has a job %s", b.To.Address, id)
	}
	if err != nil {
		return server.Job{}, err
	}
	return jobs[0], nil
}

// Apply cancels the job at the destination, which decides who owns the slots. Afterwards the destination owns either
// all of the slots or none.
func (s CancelJob) Apply(ctx context.Context, store server.Store) error {
	_, err := store.Do(ctx, s.Address, server.ClusterCommand("MIGRATION", "CANCEL", "ID", s.Name))
	return err
}
