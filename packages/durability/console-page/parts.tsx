import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { addressOf } from './route.ts'
import { live } from './session.ts'
import { timeIn, VIEWER_ZONE } from './times.ts'
import type { ScheduleDescription } from './types.ts'
import { standingOf } from './why.ts'
import { cadenceInWords, relativeTime } from './words.ts'

/** Text that somebody typed: as text, whatever is in it, and apart from what stands around it. */
export function Text({ children }: { readonly children: string }) {
  return (
    <bdi class="text" dir="auto">
      {children}
    </bdi>
  )
}

const SHORT = 300

/** The same, cut where it is long, until it is asked for. */
export function LongText({ children }: { readonly children: string }) {
  const [isOpen, setOpen] = useState(false)
  if (children.length <= SHORT) return <Text>{children}</Text>
  return (
    <>
      <Text>{isOpen ? children : `${children.slice(0, SHORT)}…`}</Text>{' '}
      <button type="button" class="plain link" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? 'Less' : `All ${children.length.toLocaleString('en')} characters`}
      </button>
    </>
  )
}

export function ScheduleLink({
  id,
  children,
}: {
  readonly id: string
  readonly children?: ComponentChildren
}) {
  return (
    <a class="id" href={addressOf({ page: 'schedule', id })}>
      {children ?? <Text>{id}</Text>}
    </a>
  )
}

interface InstantProps {
  readonly at: number | null
  readonly now: number
  /** Shown beside the viewer's, where it is another. */
  readonly zone?: string | null
  readonly isShort?: boolean
}

/** An instant: how far away, when for the viewer, and when in the schedule's own zone. */
export function Instant({ at, now, zone = null, isShort = false }: InstantProps) {
  if (at === null) return <span class="quiet">–</span>
  const mine = timeIn(VIEWER_ZONE, at)
  const own = zone === null || zone === VIEWER_ZONE ? undefined : `${timeIn(zone, at)} in ${zone}`
  const title = `${mine} in ${VIEWER_ZONE}${own === undefined ? '' : `; ${own}`}`
  return (
    <time dateTime={new Date(at).toISOString()} title={title}>
      {isShort ? (
        relativeTime(at, now)
      ) : (
        <>
          {mine} <span class="quiet">({relativeTime(at, now)})</span>
          {own !== undefined && <span class="quiet own">{own}</span>}
        </>
      )}
    </time>
  )
}

interface BadgeProps {
  readonly schedule: ScheduleDescription
  readonly now: number
  /** What its last run failed with, where that is known better than from the list. */
  readonly failure?: string | null
}

export function Badge({ schedule, now, failure = live.failureOf(schedule) }: BadgeProps) {
  const standing = standingOf(schedule, now, failure)
  return <span class={`badge ${standing}`}>{standing}</span>
}

export function Cadence({ schedule }: { readonly schedule: ScheduleDescription }) {
  return (
    <span class="cadence" title={schedule.cron ?? undefined}>
      {cadenceInWords(schedule)}
    </span>
  )
}

export function Notice({
  kind,
  children,
}: {
  readonly kind: 'bad' | 'info'
  readonly children: ComponentChildren
}) {
  return (
    <div class={`notice ${kind}`} role={kind === 'bad' ? 'alert' : 'note'}>
      {children}
    </div>
  )
}

const SHOWN_OF_ERROR = 400

/** What failed last: the start, or the run. */
export function LastError({ schedule }: { readonly schedule: ScheduleDescription }) {
  const error = schedule.lastError ?? live.failureOf(schedule)
  if (error === null) return null
  const cut = error.slice(0, SHOWN_OF_ERROR)
  return (
    <span class="error last-error" title={cut}>
      <Text>{cut}</Text>
    </span>
  )
}
