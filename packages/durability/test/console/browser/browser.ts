import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, onTestFinished, vi } from 'vitest'
import { startWranglerDev } from '../../../../../examples/support/wrangler-dev.ts'

export const TOKEN = 'for-the-browser-tests'
export const LOOKING_TOKEN = 'for-looking-only-tests'

const CHROMIUM = '/usr/bin/chromium'

/** Headless, and asking nobody anything but the pages of the tests. */
export function launch(): Promise<Browser> {
  if (!existsSync(CHROMIUM)) throw new Error('Chromium is missing: npm run test:browser installs it')
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}

export interface ConsoleWorker {
  readonly url: string
  stop(): Promise<void>
  /** Of the API and of the page. */
  readonly console: string
  /** A call of the API as somebody who may do everything. */
  call(method: string, path: string, body?: object): Promise<Response>
}

/** ms for which a call is tried again while nothing answers. */
const UNREACHABLE_MS = 20_000

/**
 * The Worker of these tests, with a fresh state that goes when the process ends. `wrangler dev` ends when it loses one of
 * its own connections, as it may on a busy machine: it is then started again, at the same address and on the same state.
 */
export async function startConsole(): Promise<ConsoleWorker> {
  const persistTo = mkdtempSync(join(tmpdir(), 'durability-console-'))
  const config = join(import.meta.dirname, 'wrangler.toml')
  let isStopped = false
  // What a failure of the Worker, or of `wrangler dev`, is told by.
  const onLine = (line: string, stream: 'stdout' | 'stderr') => {
    if (stream === 'stderr') process.stderr.write(`${line}\n`)
  }
  let worker = await startWranglerDev({ config, persistTo, onLine })
  const { url } = worker
  const keepUp = async () => {
    for (;;) {
      await worker.ended
      if (isStopped) return
      process.stderr.write('wrangler dev ended by itself, and is started again\n')
      worker = await startWranglerDev({ config, persistTo, onLine, port: Number(new URL(url).port) })
    }
  }
  const kept = keepUp()
  const console = `${url}/console`
  return {
    url,
    console,
    async call(method, path, body) {
      const response = await reached(console + path, {
        method,
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
      return response
    },
    async stop() {
      isStopped = true
      await worker.stop()
      await kept
      rmSync(persistTo, { recursive: true, force: true })
    },
  }
}

/** What is called here may be called twice. */
async function reached(url: string, init: RequestInit): Promise<Response> {
  const until = performance.now() + UNREACHABLE_MS
  for (;;) {
    try {
      return await fetch(url, init)
    } catch (error) {
      if (performance.now() > until) throw error
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
}

/** Makes a schedule whose last run failed. */
export async function failOnce({ call }: ConsoleWorker, id: string, definition: object): Promise<void> {
  const path = `/schedules/${encodeURIComponent(id)}`
  const failing = { workflow: 'failing', ...definition }
  const {
    every: _every,
    cron: _cron,
    timezone: _timezone,
    ...soon
  } = { every: '', cron: '', timezone: '', ...failing }
  await call('PUT', path, { ...soon, every: '1s' })
  await vi.waitFor(
    async () => {
      const schedule = (await (await call('GET', path)).json()) as { lastRunId: string | null }
      if (schedule.lastRunId === null) throw new Error(`${id} has not run`)
    },
    { timeout: 15_000, interval: 50 },
  )
  await call('PUT', path, failing)
}

export interface BrowserTests {
  readonly worker: ConsoleWorker
  readonly browser: Browser
}

/** A Worker and a browser for the tests of a file. */
export function browserTests(
  prepare?: (worker: ConsoleWorker) => Promise<unknown>,
  preparedWithinMs = 60_000,
): BrowserTests {
  const tests: { worker?: ConsoleWorker; browser?: Browser } = {}
  beforeAll(async () => {
    const [worker, browser] = await Promise.all([startConsole(), launch()])
    Object.assign(tests, { worker, browser })
    await prepare?.(worker)
  }, preparedWithinMs)
  afterAll(async () => {
    await Promise.all([tests.browser?.close(), tests.worker?.stop()])
  })
  // There when the tests run, which is after the hook.
  return tests as BrowserTests
}

export interface Viewer {
  readonly page: Page
  readonly context: BrowserContext
  /** What the browser complained of: a refused asset, an exception. */
  readonly complaints: string[]
}

export interface ViewerOptions {
  readonly theme?: 'light' | 'dark'
  readonly size?: 'desktop' | 'phone'
  readonly token?: string | null
}

export const SIZES = { desktop: { width: 1280, height: 860 }, phone: { width: 390, height: 844 } } as const

/** Opens the console as somebody who is signed in; closed with the test. */
export async function view(
  browser: Browser,
  url: string,
  { theme = 'light', size = 'desktop', token = TOKEN }: ViewerOptions = {},
): Promise<Viewer> {
  const context = await browser.newContext({
    viewport: SIZES[size],
    colorScheme: theme,
    timezoneId: 'Europe/London',
    hasTouch: size === 'phone',
    reducedMotion: 'reduce',
  })
  onTestFinished(() => context.close())
  if (token !== null) {
    await context.addInitScript((given) => {
      // Once: who signs out stays so.
      if (sessionStorage.getItem('seen') !== null) return
      sessionStorage.setItem('seen', 'yes')
      sessionStorage.setItem('durability-console-token', given)
    }, token)
  }
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
      console.error(`CSP: ${violatedDirective} ${blockedURI}`)
    })
  })
  await page.goto(url)
  return { page, context, complaints }
}

const SHOTS = join(import.meta.dirname, '../../../../../ci-output/console')

/** Keeps a picture of the page. */
export async function shoot(page: Page, name: string): Promise<void> {
  mkdirSync(SHOTS, { recursive: true })
  await page.screenshot({ path: join(SHOTS, `${name}.png`) })
}
