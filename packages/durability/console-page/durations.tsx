import { timeIn, VIEWER_ZONE } from './times.ts'
import type { RunDescription } from './types.ts'
import { shortDuration } from './words.ts'

const BAR = 14
const HEIGHT = 120

/** How long each of the last runs took. */
export function Durations({ runs }: { readonly runs: readonly RunDescription[] }) {
  const ended = runs
    .flatMap((run) => {
      const { startedAt, finishedAt } = run
      return startedAt === null || finishedAt === null
        ? []
        : [{ run, ms: Math.max(finishedAt - startedAt, 0) }]
    })
    .reverse()
  if (ended.length === 0) return <p class="quiet">No run has ended yet.</p>
  const longest = Math.max(...ended.map(({ ms }) => ms), 1)
  const inOrder = ended.map(({ ms }) => ms).sort((one, other) => one - other)
  const median = inOrder[Math.floor(inOrder.length / 2)] ?? 0
  const said = `${ended.length} run${ended.length === 1 ? '' : 's'}: median ${shortDuration(median)}, longest ${shortDuration(longest)}`
  return (
    <figure class="durations">
      <svg
        role="img"
        aria-label={said}
        viewBox={`0 0 ${Math.max(ended.length, 10) * BAR} ${HEIGHT}`}
        preserveAspectRatio="xMinYMax meet"
      >
        {ended.map(({ run, ms }, index) => {
          const height = Math.max((ms / longest) * (HEIGHT - 4), 2)
          return (
            <rect
              key={run.id}
              class={run.status}
              x={index * BAR + 2}
              y={HEIGHT - height}
              width={BAR - 4}
              height={height}
              rx={2}
            >
              <title>{`${timeIn(VIEWER_ZONE, run.startedAt ?? 0)}: ${shortDuration(ms)}, ${run.status}`}</title>
            </rect>
          )
        })}
      </svg>
      <figcaption class="quiet">{said}</figcaption>
    </figure>
  )
}
