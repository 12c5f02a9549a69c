import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { QuickActions } from './actions.tsx'
import { useNow, useWatchedLive } from './hooks.ts'
import { Badge, Cadence, Instant, LastError, Notice, ScheduleLink, Text } from './parts.tsx'
import { addressOf } from './route.ts'
import { live } from './session.ts'
import type { ScheduleDescription } from './types.ts'
import { useVirtualRows } from './virtual-rows.ts'
import { standingOf } from './why.ts'

interface Filters {
  readonly search: string
  readonly namespace: string
  readonly workflow: string
  readonly tag: string
  readonly state: string
}

const NONE: Filters = { search: '', namespace: '', workflow: '', tag: '', state: '' }
const STATES = ['active', 'failing', 'late', 'paused', 'finished'] as const

const WIDE_ROW = 56
const NARROW_ROW = 172
const narrow = matchMedia('(max-width: 760px)')

/** Survives a look at one schedule. */
let kept = NONE

/** The next viewer does not see what this one has looked for. */
export function forgetFilters(): void {
  kept = NONE
}

export function ScheduleTable() {
  const { rows, state, isComplete } = useWatchedLive()
  const now = useNow()
  const [filters, setFilters] = useState(kept)
  kept = filters
  const matching = useMemo(
    () => rows.filter((row) => matches(row, filters, now)),
    [rows, filters, isTimed(filters) && now],
  )
  if (state === 'loading') return <Loading />
  if (rows.length === 0 && isComplete) {
    return (
      <section class="empty">
        <h1>No schedules yet</h1>
        <p>
          What users create shows up here by itself. You can{' '}
          <a href={addressOf({ page: 'create' })}>create one</a> too.
        </p>
      </section>
    )
  }
  return (
    <section class="list">
      <h1 class="unseen">Schedules</h1>
      <FilterBar rows={rows} filters={filters} onChange={setFilters} />
      <p class="quiet count" role="status">
        {matching.length === rows.length ? '' : `${matching.length.toLocaleString('en')} of `}
        {rows.length.toLocaleString('en')} schedule{rows.length === 1 ? '' : 's'}
        {isComplete ? '' : ', more are being read'}
      </p>
      {matching.length === 0 ? (
        <Notice kind="info">
          Nothing matches.{' '}
          <button type="button" class="plain link" onClick={() => setFilters(NONE)}>
            Clear the filters
          </button>
        </Notice>
      ) : (
        <Rows rows={matching} now={now} />
      )}
    </section>
  )
}

function Loading() {
  return (
    <section class="loading" aria-busy="true">
      <p class="quiet">Reading the schedules…</p>
      {[0, 1, 2, 3, 4].map((line) => (
        <div key={line} class="bone" />
      ))}
    </section>
  )
}

function Rows({ rows, now }: { readonly rows: readonly ScheduleDescription[]; readonly now: number }) {
  const scroller = useRef<HTMLDivElement>(null)
  const isNarrow = useMedia(narrow)
  const height = isNarrow ? NARROW_ROW : WIDE_ROW
  const { items, height: all } = useVirtualRows(
    rows.length,
    () => scroller.current,
    () => height,
  )
  return (
    <div class="table" role="table" aria-label="Schedules" aria-rowcount={rows.length + 1}>
      <div role="rowgroup" class="head">
        <div role="row" class="row" aria-rowindex={1}>
          {['Schedule', 'Cadence', 'Next', 'Last', 'State', 'Actions'].map((name) => (
            <span key={name} role="columnheader">
              {name}
            </span>
          ))}
        </div>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <div role="rowgroup" class="scroller" ref={scroller} tabIndex={0} aria-label="Rows">
        <div role="presentation" class="all" style={{ height: `${all}px` }}>
          {items.map(({ index, start }) => {
            const schedule = rows[index]
            if (schedule === undefined) return null
            return (
              <div
                key={schedule.id}
                role="row"
                class="row"
                aria-rowindex={index + 2}
                style={{ transform: `translateY(${start}px)`, height: `${height}px` }}
              >
                <Row schedule={schedule} now={now} />
              </div>
            )
          })}
        </div>
      </div>
    </div>
  )
}

function Row({ schedule, now }: { readonly schedule: ScheduleDescription; readonly now: number }) {
  const { id, workflow, namespace, nextFireAt, lastFireAt, timezone } = schedule
  return (
    <>
      <span role="cell" class="name">
        <ScheduleLink id={id} />
        <span class="quiet">
          <Text>{workflow}</Text>
          {namespace !== 'default' && (
            <>
              {' '}
              · <Text>{namespace}</Text>
            </>
          )}
        </span>
      </span>
      <span role="cell">
        <Cadence schedule={schedule} />
      </span>
      <span role="cell" class="when">
        <span class="label">Next </span>
        <Instant at={nextFireAt} now={now} zone={timezone} isShort />
      </span>
      <span role="cell" class="when">
        <span class="label">Last </span>
        <Instant at={lastFireAt} now={now} zone={timezone} isShort />
      </span>
      <span role="cell" class="state">
        <Badge schedule={schedule} now={now} />
        <LastError schedule={schedule} />
      </span>
      <span role="cell">
        <QuickActions schedule={schedule} />
      </span>
    </>
  )
}

interface FilterBarProps {
  readonly rows: readonly ScheduleDescription[]
  readonly filters: Filters
  onChange(filters: Filters): void
}

function FilterBar({ rows, filters, onChange }: FilterBarProps) {
  const values = useMemo(() => {
    const namespaces = new Set<string>()
    const workflows = new Set<string>()
    const tags = new Set<string>()
    for (const row of rows) {
      namespaces.add(row.namespace)
      workflows.add(row.workflow)
      for (const tag of row.tags) tags.add(tag)
    }
    return { namespace: sorted(namespaces), workflow: sorted(workflows), tag: sorted(tags) }
  }, [rows])
  const set = (name: keyof Filters, value: string) => onChange({ ...filters, [name]: value })
  return (
    <search class="filters">
      <input
        type="search"
        aria-label="Search"
        placeholder="Search ids, workflows, tags, notes, errors"
        value={filters.search}
        onInput={(event) => set('search', event.currentTarget.value)}
      />
      {(['namespace', 'workflow', 'tag'] as const).map((name) => (
        <Choice
          key={name}
          name={name}
          values={values[name]}
          value={filters[name]}
          onChange={(value) => set(name, value)}
        />
      ))}
      <Choice name="state" values={STATES} value={filters.state} onChange={(value) => set('state', value)} />
      <a class="button primary" href={addressOf({ page: 'create' })}>
        New schedule
      </a>
    </search>
  )
}

interface ChoiceProps {
  readonly name: string
  readonly values: readonly string[]
  readonly value: string
  onChange(value: string): void
}

/** More than these would be no choice: the search finds them. */
const MOST_CHOICES = 500

function Choice({ name, values, value, onChange }: ChoiceProps) {
  return (
    <select
      aria-label={`Filter by ${name}`}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      <option value="">Any {name}</option>
      {values.slice(0, MOST_CHOICES).map((one) => (
        <option key={one} value={one}>
          {one.slice(0, 80)}
        </option>
      ))}
    </select>
  )
}

function sorted(values: ReadonlySet<string>): readonly string[] {
  return [...values].sort()
}

/** Whether what matches changes as time goes by. */
function isTimed({ state }: Filters): boolean {
  return state === 'late' || state === 'active'
}

function matches(row: ScheduleDescription, filters: Filters, now: number): boolean {
  const { search, namespace, workflow, tag, state } = filters
  if (namespace !== '' && row.namespace !== namespace) return false
  if (workflow !== '' && row.workflow !== workflow) return false
  if (tag !== '' && !row.tags.includes(tag)) return false
  if (state === 'failing' ? errorOf(row) === null : state !== '' && !isIn(state, row, now)) return false
  if (search === '') return true
  const wanted = search.toLowerCase()
  return [
    row.id,
    row.workflow,
    row.namespace,
    row.note ?? '',
    errorOf(row) ?? '',
    row.cron ?? '',
    ...row.tags,
  ].some((text) => text.toLowerCase().includes(wanted))
}

function errorOf(row: ScheduleDescription): string | null {
  return row.lastError ?? live.failureOf(row)
}

function isIn(state: string, row: ScheduleDescription, now: number): boolean {
  return state === 'active' ? !row.paused && !row.finished : standingOf(row, now, null) === state
}

function useMedia(query: MediaQueryList): boolean {
  const [isOn, setOn] = useState(query.matches)
  useEffect(() => {
    const onChange = () => setOn(query.matches)
    query.addEventListener('change', onChange)
    return () => query.removeEventListener('change', onChange)
  }, [query])
  return isOn
}
