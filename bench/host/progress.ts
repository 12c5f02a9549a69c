/** Told what is being done, as often as it likes. */
export type Progress = (what: string) => void

const EVERY_MS = 4_000

/** Says what is being done and for how long already: on one line of a terminal, elsewhere every few seconds. */
export function progressLine(): Progress & { done(): void } {
  const startedAt = performance.now()
  let saidAt = startedAt
  const { stdout } = process
  const seconds = () => `${Math.round((performance.now() - startedAt) / 1_000)} s`
  const say = (what: string) => {
    const now = performance.now()
    if (now - saidAt < (stdout.isTTY ? 100 : EVERY_MS)) return
    saidAt = now
    stdout.write(stdout.isTTY ? `\r\x1b[K${seconds()}  ${what}` : `${seconds()}  ${what}\n`)
  }
  return Object.assign(say, {
    done() {
      stdout.write(`${stdout.isTTY ? '\r\x1b[K' : ''}measured in ${seconds()}\n`)
    },
  })
}
