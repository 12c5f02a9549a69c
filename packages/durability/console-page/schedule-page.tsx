import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { Asked, keepFocus, pause, remove, resume, runNow, useBusy } from './actions.tsx'
import { Definition } from './definition.tsx'
import { Durations } from './durations.tsx'
import { useLive, useNow, useSchedule } from './hooks.ts'
import { Badge, Instant, LongText, Notice, Text } from './parts.tsx'
import { errorOfRun } from './recent-failures.ts'
import { addressOf } from './route.ts'
import { isRefusal, type PartOf } from './schedule-watch.ts'
import { Timeline } from './timeline.tsx'
import type { Decision, RunDescription, ScheduleDescription } from './types.ts'
import { DECISION_WORDS, reasons } from './why.ts'
import { cadenceInWords, shortDuration } from './words.ts'

export function SchedulePage({ id }: { readonly id: string }) {
  const now = useNow()
  const schedules = useLive()
  const watch = useSchedule(id)
  const { description: own, runs, history, next } = watch.parts

  const schedule = schedules.get(id)
  if (schedule === undefined) {
    const isReading =
      own.error === undefined ? own.value !== null : isRefusal(own.error) && !schedules.isComplete
    if (isReading) return <p class="quiet">Reading…</p>
    return (
      <section class="empty">
        <h1>
          <Text>{id}</Text>
        </h1>
        <Notice kind="bad">{own.error?.message ?? 'There is no such schedule, or no more.'}</Notice>
        <p>
          <a href={addressOf({ page: 'list' })}>All schedules</a>
        </p>
      </section>
    )
  }
  const decisions = history.value?.decisions ?? []
  const failure = failureIn(runs.value?.runs ?? [], schedule) ?? schedules.failureOf(schedule)
  const why = reasons(schedule, decisions, now, failure)
  return (
    <article class="schedule">
      <p>
        <a href={addressOf({ page: 'list' })}>← All schedules</a>
      </p>
      <header>
        <h1>
          <Text>{schedule.id}</Text> <Badge schedule={schedule} now={now} failure={failure} />
        </h1>
        <p class="words">{cadenceInWords(schedule)}</p>
        <Actions schedule={schedule} onDone={() => watch.start()} />
      </header>
      <Failures
        of={[own, runs, history, next].map(({ error }) => error)}
        saidAbove={[schedules.lost, schedules.refusal]}
      />
      {why.length > 0 && (
        <section class="why" aria-label="Why it stands as it does">
          {why.map((reason) => (
            <p key={reason}>
              <LongText>{reason}</LongText>
            </p>
          ))}
        </section>
      )}
      <section>
        <h2>Runs and next fires</h2>
        <Timeline schedule={schedule} runs={runs.value?.runs} windows={next.value?.windows} now={now} />
        {runs.value === undefined && <Unread what="The runs" error={runs.error} />}
        {next.value === undefined && <Unread what="The next fires" error={next.error} />}
      </section>
      <div class="columns">
        <section>
          <h2>Definition</h2>
          {isRefusal(own.error) && <Unread what="The schedule by itself" error={own.error} />}
          <Definition schedule={schedule} now={now} />
        </section>
        <section>
          <h2>How long runs take</h2>
          <Part what="The runs" of={runs}>
            {({ runs }) => <Durations runs={runs} />}
          </Part>
        </section>
      </div>
      <section>
        <h2>Decisions</h2>
        <Part what="The decisions" of={history}>
          {({ decisions }) => <DecisionTable decisions={decisions} schedule={schedule} now={now} />}
        </Part>
      </section>
      <section>
        <h2>Runs</h2>
        <Part what="The runs" of={runs}>
          {({ runs }) => <RunTable runs={runs} now={now} />}
        </Part>
      </section>
    </article>
  )
}

interface PartProps<Value> {
  readonly what: string
  readonly of: PartOf<Value>
  readonly children: (value: Value) => ComponentChildren
}

/** Nothing is said about what has not been read. */
function Part<Value>({ what, of: { value, error }, children }: PartProps<Value>) {
  return value === undefined ? <Unread what={what} error={error} /> : children(value)
}

/** Stands where something would, and says why it does not. */
function Unread({ what, error }: { readonly what: string; readonly error: Error | undefined }) {
  if (error === undefined) return <p class="quiet">Reading…</p>
  return (
    <p class="quiet">
      {isRefusal(error) ? `${what} may not be seen` : `${what} could not be read`}:{' '}
      <Text>{error.message}</Text>
    </p>
  )
}

interface FailuresProps {
  readonly of: readonly (Error | undefined)[]
  readonly saidAbove: readonly (string | undefined)[]
}

/** What could not be read, while what was read before is shown. What is refused is said in its place. */
function Failures({ of: errors, saidAbove }: FailuresProps) {
  const failed = errors.filter((error) => error !== undefined && !isRefusal(error))
  const messages = new Set(failed.flatMap((error) => (error === undefined ? [] : [error.message])))
  for (const message of saidAbove) if (message !== undefined) messages.delete(message)
  return (
    <>
      {[...messages].map((message) => (
        <Notice key={message} kind="bad">
          <Text>{message}</Text>
        </Notice>
      ))}
    </>
  )
}

function Actions({ schedule, onDone }: { readonly schedule: ScheduleDescription; onDone(): void }) {
  const { id, paused } = schedule
  const row = useRef<HTMLParagraphElement>(null)
  const [isBusy, during] = useBusy()
  const then = async (work: Promise<boolean>) => {
    const isDone = await work
    onDone()
    // "Pause" is "Resume" now, or the other way round.
    keepFocus(() => row.current?.querySelectorAll('button')[1])
    return isDone
  }
  return (
    <p ref={row} class="actions">
      <button type="button" class="primary" aria-disabled={isBusy} onClick={during(() => then(runNow(id)))}>
        Run now
      </button>
      {paused ? (
        <button type="button" aria-disabled={isBusy} onClick={during(() => then(resume(id)))}>
          Resume
        </button>
      ) : (
        <Asked
          label="Pause"
          title="Pause this schedule"
          text="No window is due until it is resumed; what is missed meanwhile is not caught up."
          question="A note, if you like"
          confirm="Pause"
          onConfirm={(note) => then(pause(id, note === '' ? undefined : note))}
        />
      )}
      <a class="button" href={addressOf({ page: 'edit', id })}>
        Edit
      </a>
      <Asked
        label="Delete"
        title="Delete this schedule"
        text="Its history goes with it. Its past runs are kept for a while."
        confirm="Delete"
        isBad
        onConfirm={() => remove(id)}
      />
    </p>
  )
}

interface DecisionTableProps {
  readonly decisions: readonly Decision[]
  readonly schedule: ScheduleDescription
  readonly now: number
}

function DecisionTable({ decisions, schedule, now }: DecisionTableProps) {
  if (decisions.length === 0) return <p class="quiet">Nothing has been decided yet.</p>
  return (
    <Scrolling label="Decisions" head={['Decision', 'Window', 'Decided', 'Why']}>
      {decisions.map((decision, index) => (
        // From the oldest on: a new one comes first, and two may be alike.
        <tr key={decisions.length - index}>
          <td>
            <span class={`badge ${decision.decision}`}>
              {DECISION_WORDS[decision.decision] ?? decision.decision}
            </span>
          </td>
          <td>
            {decision.from !== undefined && decision.to !== undefined && decision.from !== decision.to ? (
              <>
                <Instant at={decision.from} now={now} zone={schedule.timezone} /> to{' '}
                <Instant at={decision.to} now={now} zone={schedule.timezone} />
              </>
            ) : (
              <Instant at={decision.scheduledTime} now={now} zone={schedule.timezone} />
            )}
          </td>
          <td>
            <Instant at={decision.decidedAt} now={now} isShort />
          </td>
          <td>
            <LongText>{decision.reason ?? decision.runId ?? ''}</LongText>
          </td>
        </tr>
      ))}
    </Scrolling>
  )
}

function RunTable({ runs, now }: { readonly runs: readonly RunDescription[]; readonly now: number }) {
  if (runs.length === 0) return <p class="quiet">It has not run yet.</p>
  return (
    <Scrolling label="Runs" head={['Status', 'Run', 'Started', 'Took', 'Error']}>
      {runs.map((run) => {
        const { startedAt, finishedAt } = run
        return (
          <tr key={run.id}>
            <td>
              <span class={`badge ${run.status}`}>{run.status}</span>
            </td>
            <td>
              <Text>{run.id}</Text>
            </td>
            <td>
              <Instant at={startedAt} now={now} isShort />
            </td>
            <td>{startedAt !== null && finishedAt !== null ? shortDuration(finishedAt - startedAt) : ''}</td>
            <td class="error">{run.error !== null && <LongText>{run.error}</LongText>}</td>
          </tr>
        )
      })}
    </Scrolling>
  )
}

interface ScrollingProps {
  readonly label: string
  readonly head: readonly string[]
  readonly children: ComponentChildren
}

function Scrolling({ label, head, children }: ScrollingProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <div class="wide" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            {head.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}

/** What its last run failed with. */
function failureIn(runs: readonly RunDescription[], { lastRunId }: ScheduleDescription): string | null {
  const last = runs.find(({ id }) => id === lastRunId)
  return last === undefined ? null : errorOfRun(last)
}
