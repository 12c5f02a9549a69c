import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { Asked, keepFocus, pause, remove, resume, runNow } from './actions.tsx'
import { api, scheduleAt } from './api.ts'
import { Durations } from './durations.tsx'
import { type Polled, useLive, useNow, usePolled } from './hooks.ts'
import { Badge, Instant, LongText, Notice, Text } from './parts.tsx'
import { addressOf } from './route.ts'
import { live } from './session.ts'
import { Timeline } from './timeline.tsx'
import type { Decision, Decisions, RunDescription, RunsPage, ScheduleDescription, Windows } from './types.ts'
import { DECISION_WORDS, reasons } from './why.ts'
import { cadenceInWords, durationInWords, shortDuration } from './words.ts'

const KEPT = 50

export function SchedulePage({ id }: { readonly id: string }) {
  const now = useNow()
  const schedules = useLive()
  const own = usePolled(() => live.read(id), [id])
  const runs = usePolled(() => api<RunsPage>('/runs', { query: { scheduleId: id, limit: KEPT } }), [id])
  const history = usePolled(
    () => api<Decisions>(`${scheduleAt(id)}/history`, { query: { limit: KEPT } }),
    [id],
  )
  const next = usePolled(() => api<Windows>(`${scheduleAt(id)}/preview`, { query: { count: 10 } }), [id])

  const schedule = schedules.get(id)
  if (schedule === undefined) {
    if (own.error === undefined && own.value !== null) return <p class="quiet">Reading…</p>
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
  const refresh = () => {
    for (const part of [own, runs, history, next]) part.refresh()
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
        <Actions schedule={schedule} onDone={refresh} />
      </header>
      <Failures of={[own.error, runs.error, history.error, next.error]} saidAbove={schedules.lost} />
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
        <Part of={runs}>
          {({ runs }) => (
            <Timeline schedule={schedule} runs={runs} windows={next.value?.windows ?? []} now={now} />
          )}
        </Part>
      </section>
      <div class="columns">
        <section>
          <h2>Definition</h2>
          <Definition schedule={schedule} now={now} />
        </section>
        <section>
          <h2>How long runs take</h2>
          <Part of={runs}>{({ runs }) => <Durations runs={runs} />}</Part>
        </section>
      </div>
      <section>
        <h2>Decisions</h2>
        <Part of={history}>
          {({ decisions }) => <DecisionTable decisions={decisions} schedule={schedule} now={now} />}
        </Part>
      </section>
      <section>
        <h2>Runs</h2>
        <Part of={runs}>{({ runs }) => <RunTable runs={runs} now={now} />}</Part>
      </section>
    </article>
  )
}

interface PartProps<Value> {
  readonly of: Polled<Value>
  readonly children: (value: Value) => ComponentChildren
}

/** Nothing is said about what has not been read. */
function Part<Value>({ of: { value, error }, children }: PartProps<Value>) {
  if (value !== undefined) return <>{children(value)}</>
  return <p class="quiet">{error === undefined ? 'Reading…' : 'It could not be read.'}</p>
}

interface FailuresProps {
  readonly of: readonly (Error | undefined)[]
  readonly saidAbove: string | undefined
}

/** What could not be read, while the rest is shown. */
function Failures({ of: errors, saidAbove }: FailuresProps) {
  const messages = new Set(errors.flatMap((error) => (error === undefined ? [] : [error.message])))
  if (saidAbove !== undefined) messages.delete(saidAbove)
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
  const then = async (work: Promise<boolean>) => {
    const isDone = await work
    onDone()
    // "Pause" is "Resume" now, or the other way round.
    keepFocus(() => row.current?.querySelectorAll('button')[1])
    return isDone
  }
  return (
    <p ref={row} class="actions">
      <button type="button" class="primary" onClick={() => void then(runNow(id))}>
        Run now
      </button>
      {paused ? (
        <button type="button" onClick={() => void then(resume(id))}>
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

function Definition({ schedule, now }: { readonly schedule: ScheduleDescription; readonly now: number }) {
  const { cron, every, everyMs, timezone, jitterMs, concurrency, startAt, endAt } = schedule
  const cadence = cron ?? (everyMs === null ? '' : `every ${every ?? durationInWords(everyMs)}`)
  return (
    <dl>
      <dt>Workflow</dt>
      <dd>
        <Text>{schedule.workflow}</Text>
      </dd>
      <dt>Cadence</dt>
      <dd>
        <code>{cadence}</code>
        {timezone !== null && ` in ${timezone}`}
      </dd>
      <dt>Next fire</dt>
      <dd>
        <Instant at={schedule.nextFireAt} now={now} zone={timezone} />
      </dd>
      <dt>Last fire</dt>
      <dd>
        <Instant at={schedule.lastFireAt} now={now} zone={timezone} />
      </dd>
      <dt>Fires</dt>
      <dd>
        {schedule.fires.toLocaleString('en')}
        {schedule.maxRuns !== null && ` of ${schedule.maxRuns.toLocaleString('en')}`}
      </dd>
      <dt>Policies</dt>
      <dd>
        overlap {schedule.overlap}, catch-up {schedule.catchup}
        {jitterMs > 0 && `, jitter ${durationInWords(jitterMs)}`}
        {schedule.pauseAfterFailures !== null &&
          `, pauses after ${schedule.pauseAfterFailures} failures in a row`}
        {schedule.priority !== 0 && `, priority ${schedule.priority}`}
        {concurrency !== null && (
          <>
            , at most {concurrency.limit} at once of <Text>{concurrency.key}</Text>
          </>
        )}
      </dd>
      {startAt !== null && (
        <>
          <dt>Not before</dt>
          <dd>
            <Instant at={startAt} now={now} zone={timezone} />
          </dd>
        </>
      )}
      {endAt !== null && (
        <>
          <dt>Not at or after</dt>
          <dd>
            <Instant at={endAt} now={now} zone={timezone} />
          </dd>
        </>
      )}
      {schedule.note !== null && (
        <>
          <dt>Note</dt>
          <dd>
            <LongText>{schedule.note}</LongText>
          </dd>
        </>
      )}
      {schedule.tags.length > 0 && (
        <>
          <dt>Tags</dt>
          <dd>
            {schedule.tags.map((tag) => (
              <span key={tag} class="tag">
                <Text>{tag}</Text>
              </span>
            ))}
          </dd>
        </>
      )}
      <dt>Namespace</dt>
      <dd>
        <Text>{schedule.namespace}</Text>
      </dd>
      <dt>Input</dt>
      <dd>
        <LongText>{JSON.stringify(schedule.input)}</LongText>
      </dd>
      {schedule.searchAttributes !== null && (
        <>
          <dt>Search attributes</dt>
          <dd>
            <LongText>{JSON.stringify(schedule.searchAttributes)}</LongText>
          </dd>
        </>
      )}
      <dt>Revision</dt>
      <dd>
        {schedule.revision}, changed <Instant at={schedule.updatedAt} now={now} isShort />
      </dd>
    </dl>
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
      {decisions.map((decision) => (
        <tr key={`${decision.decision} ${decision.decidedAt} ${decision.scheduledTime}`}>
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
  const hasFailed = last?.status === 'errored' || last?.status === 'interrupted'
  return hasFailed ? (last.error ?? last.status) : null
}
