import { useLayoutEffect, useRef } from 'preact/hooks'
import { Text } from './parts.tsx'
import { offsetOf, timeIn, VIEWER_ZONE } from './times.ts'
import type { PreviewedWindow, RunDescription, ScheduleDescription } from './types.ts'
import { durationInWords, relativeTime, shortDuration } from './words.ts'

interface TimelineProps {
  readonly schedule: ScheduleDescription
  /** Newest first; `undefined` where they are not known. */
  readonly runs: readonly RunDescription[] | undefined
  readonly windows: readonly PreviewedWindow[] | undefined
  readonly now: number
}

const PAST = 12

interface Stop {
  readonly at: number
  readonly kind: string
  readonly title: string
  /** What the window's delay is, in words. */
  readonly delay?: string
}

/** The last runs and the next fires, in order, with the clock changes between them. */
export function Timeline({ schedule, runs, windows, now }: TimelineProps) {
  const zone = schedule.timezone ?? VIEWER_ZONE
  const past = (runs ?? [])
    .filter((run) => run.scheduledTime !== null)
    .slice(0, PAST)
    .reverse()
    .map((run): Stop => {
      const isManual = run.id.includes(':manual:')
      return {
        at: run.scheduledTime ?? 0,
        kind: run.status,
        title: isManual ? `${run.status}, run by hand` : run.status,
      }
    })
  const next = (windows ?? []).map(({ scheduledTime, dueAt }): Stop => {
    const delayMs = dueAt - scheduledTime
    return {
      at: scheduledTime,
      kind: schedule.paused ? 'asleep' : 'next',
      title: schedule.paused ? 'if resumed now' : 'to come',
      ...(delayMs > 0 && { delay: `jitter + ${shortDuration(delayMs)}` }),
    }
  })
  const stops = [...past, ...next]
  const rail = useRef<HTMLDivElement>(null)
  const hasStops = stops.length > 0
  useLayoutEffect(() => {
    const mark = rail.current?.querySelector<HTMLElement>('.now')
    if (rail.current && mark) rail.current.scrollLeft = mark.offsetLeft - rail.current.clientWidth / 2
  }, [hasStops])
  if (stops.length === 0 && (runs === undefined || windows === undefined)) return null
  if (stops.length === 0) return <p class="quiet">It has not run yet, and has no window to come.</p>
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <div ref={rail} class="rail" tabIndex={0} role="region" aria-label="Timeline">
        <ol>
          {stops.flatMap((stop, index) => {
            const before = stops[index - 1]
            const change = before === undefined ? 0 : clockChange(zone, before.at, stop.at)
            return [
              ...(change === 0
                ? []
                : [
                    <li key={`change ${stop.at}`} class="change">
                      clocks {change > 0 ? 'forward' : 'back'} {durationInWords(Math.abs(change))}
                    </li>,
                  ]),
              ...(index === past.length
                ? [
                    <li key="now" class="now">
                      now
                    </li>,
                  ]
                : []),
              <li key={`${index} ${stop.at}`} class={`stop ${stop.kind}`}>
                <span class="mark" />
                <time
                  dateTime={new Date(stop.at).toISOString()}
                  title={`${timeIn(VIEWER_ZONE, stop.at)} in ${VIEWER_ZONE}`}
                >
                  {timeIn(zone, stop.at)}
                </time>
                <span class="quiet">{stop.title}</span>
                {stop.delay !== undefined && <span class="quiet">{stop.delay}</span>}
                <span class="quiet">{relativeTime(stop.at, now)}</span>
              </li>,
            ]
          })}
        </ol>
      </div>
      <p class="quiet zone">
        Times in <Text>{zone}</Text>
      </p>
    </>
  )
}

/** ms by which the zone's clocks were set between two instants. */
function clockChange(zone: string, from: number, to: number): number {
  const before = offsetOf(zone, from)
  const after = offsetOf(zone, to)
  return before === undefined || after === undefined ? 0 : after - before
}
