import { useEffect, useRef, useState } from 'preact/hooks'
import { QuickActions } from './actions.tsx'
import { useLive, useNow, useWatchedLive } from './hooks.ts'
import { Badge, Cadence, Instant, LastError, ScheduleLink } from './parts.tsx'
import { addressOf } from './route.ts'

const SHOWN = 50

/** How many schedules there are, and a look at the soonest of them. */
export function SchedulesChip() {
  const { rows, state, isComplete } = useLive()
  const popover = useRef<HTMLDivElement>(null)
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    const close = () => popover.current?.hidePopover()
    addEventListener('hashchange', close)
    return () => removeEventListener('hashchange', close)
  }, [])
  const paused = rows.reduce((count, row) => count + Number(row.paused), 0)
  const count = state === 'loading' ? '…' : `${rows.length.toLocaleString('en')}${isComplete ? '' : '+'}`
  return (
    <>
      <button
        type="button"
        class="chip"
        popovertarget="schedules"
        aria-haspopup="dialog"
        aria-expanded={isOpen}
      >
        <strong>{count}</strong> schedule{rows.length === 1 ? '' : 's'}
        {paused > 0 && <span class="quiet"> · {paused.toLocaleString('en')} paused</span>}
      </button>
      <div
        id="schedules"
        ref={popover}
        class="popover"
        popover="auto"
        role="dialog"
        tabIndex={-1}
        aria-label="Schedules, the soonest first"
        // Filled before it shows, so that the next Tab leads into it; emptied after it has given the focus back.
        onBeforeToggle={(event) => event.newState === 'open' && setOpen(true)}
        onToggle={(event) => event.newState === 'closed' && setOpen(false)}
      >
        {isOpen && <Soonest />}
      </div>
    </>
  )
}

function Soonest() {
  const { rows, isComplete } = useWatchedLive()
  const now = useNow()
  if (rows.length === 0) {
    return <p class="quiet">{isComplete ? 'There are no schedules yet.' : 'Reading the schedules…'}</p>
  }
  return (
    <>
      <ul class="soonest">
        {rows.slice(0, SHOWN).map((schedule) => (
          <li key={schedule.id}>
            <div class="line">
              <ScheduleLink id={schedule.id} />
              <Badge schedule={schedule} now={now} />
            </div>
            <Cadence schedule={schedule} />
            <div class="quiet">
              Next <Instant at={schedule.nextFireAt} now={now} zone={schedule.timezone} isShort /> · last{' '}
              <Instant at={schedule.lastFireAt} now={now} zone={schedule.timezone} isShort />
            </div>
            <LastError schedule={schedule} />
            <QuickActions schedule={schedule} />
          </li>
        ))}
      </ul>
      <p>
        <a
          href={addressOf({ page: 'list' })}
          onClick={() => document.getElementById('schedules')?.hidePopover()}
        >
          {rows.length > SHOWN
            ? `All ${rows.length.toLocaleString('en')} schedules`
            : 'The table of schedules'}
        </a>
      </p>
    </>
  )
}
