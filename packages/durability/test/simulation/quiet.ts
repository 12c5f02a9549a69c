/** Runs `play` without what the package reports, and with random numbers that are the same in every run. */
export async function undisturbed<Result>(
  random: () => number,
  play: () => Promise<Result>,
): Promise<Result> {
  const { error, warn } = console
  const { random: before } = Math
  console.error = ignore
  console.warn = ignore
  Math.random = random
  try {
    return await play()
  } finally {
    Object.assign(console, { error, warn })
    Math.random = before
  }
}

function ignore(): void {}
