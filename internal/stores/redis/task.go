// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"fmt"
	"strings"
)

// mostRetries is how often a job of Redis may fail before it is called off: a passing fault is not worth beginning again.
const mostRetries = 3

// byTask has the end that gets the slots import them, and waits until it has. If it is stopped, or the answer is lost,
// the job goes on: the next look at the processes shows it.
func (b *batch) byTask(ctx context.Context) error {
	command := clusterCommand("MIGRATION", "IMPORT")
	for _, r := range SlotsOf(b.slots...) {
		command = append(command, r.First, r.Last)
	}
	answers, err := b.do(ctx, b.To.Address, command)
	if refused(err, "unknown subcommand") {
		return fmt.Errorf("%w: %w", ErrNoJobs, err)
	}
	if err != nil {
		return err
	}
	return b.awaitTask(ctx, text(answers[0]))
}

// awaitTask looks at a job until it has ended. One that keeps failing is called off, as the servers would try for ever.
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
			return fmt.Errorf("their job was %s: %s", job.State, job.Message)
		case job.Retried && !failing:
			failures++
		}
		if failing = job.Retried; failures >= mostRetries {
			cancel := CancelJob{Address: b.To.Address, Name: id}
			return errJob(job, cancel.apply(ctx, b.Store))
		}
		if err := b.sleep(ctx, jobPoll); err != nil {
			return err
		}
	}
}

func errJob(job Job, cancelled error) error {
	if cancelled != nil {
		return fmt.Errorf("their job fails again and again: %s; it cannot be called off: %w", job.Message, cancelled)
	}
	return fmt.Errorf("their job has failed: %s", job.Message)
}

// task is what the end that gets the slots reports a job.
func (b *batch) task(ctx context.Context, id string) (Job, error) {
	answers, err := b.do(ctx, b.To.Address, clusterCommand("MIGRATION", "STATUS", "ID", id))
	if err != nil {
		return Job{}, err
	}
	jobs, err := parseTasks(answers[0])
	if err == nil && len(jobs) != 1 {
		err = fmt.Errorf("%s knows of no job %s any more", b.To.Address, id)
	}
	if err != nil {
		return Job{}, err
	}
	return jobs[0], nil
}

// parseTasks reads what CLUSTER MIGRATION STATUS tells.
func parseTasks(answer any) ([]Job, error) {
	lines, _ := answer.([]any)
	var out []Job
	for _, line := range lines {
		task := pairs(line)
		slots, err := ParseSlots(strings.ReplaceAll(task["slots"], " ", ","))
		if err != nil {
			return nil, err
		}
		job := Job{
			Name: task["id"], Import: task["operation"] == "import", Slots: slots, To: task["dest"],
			State: task["state"], Message: task["last_error"],
		}
		job.Retried = job.Import && job.State == "failed" // the other end waits for the next attempt, or for none
		out = append(out, job)
	}
	return out, nil
}

// apply calls it off where it is decided who has the slots: it has them all by then, or none.
func (s CancelJob) apply(ctx context.Context, store Store) error {
	_, err := store.Do(ctx, s.Address, clusterCommand("MIGRATION", "CANCEL", "ID", s.Name))
	return err
}
