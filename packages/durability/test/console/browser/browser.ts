import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, onTestFinished, vi } from 'vitest'
import { startWranglerDev } from '../../../../../examples/support/wrangler-dev.ts'
import { TOOL_ENDED } from './tool-ended.ts'

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
  /** How often `wrangler dev` ended by itself. */
  readonly endings: number
  /** A request that may be made twice: it is made again while `wrangler dev` is not there. */
  reach(path: string, init?: RequestInit): Promise<Response>
  /** A call of the API as somebody who may do everything; made again as with `reach`. */
  call(method: string, path: string, body?: object): Promise<Response>
}

/** ms for which a request is made again while the Worker cannot be reached. */
const UNREACHABLE_MS = 20_000
/** ms within which `wrangler dev` is gone after the failure that ends it. */
const ENDING_MS = 2_000

/**
 * The Worker of these tests, with a fresh state that goes when the process ends. `wrangler dev` ends when it loses one of
 * its own connections, as it may on a busy machine: it is then started again, at the same address and on the same state.
 */
export async function startConsole(): Promise<ConsoleWorker> {
  const persistTo = mkdtempSync(join(tmpdir(), 'durability-console-'))
  const config = join(import.meta.dirname, 'wrangler.toml')
  let isStopped = false
  let endings = 0
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
      endings += 1
      // What it left behind holds the port.
      await worker.kill()
      process.stderr.write(`${TOOL_ENDED}, and is started again\n`)
      worker = await startWranglerDev({ config, persistTo, onLine, port: Number(new URL(url).port) })
    }
  }
  const kept = keepUp()
  const console = `${url}/console`
  const reach = (path: string, init?: RequestInit) => reached(url + path, init)
  return {
    url,
    console,
    get endings() {
      return endings
    },
    reach,
    async call(method, path, body) {
      const response = await reach(`/console${path}`, {
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

/** A connection that `wrangler dev` loses to the Worker is answered with a 500 of its own, in plain text. */
async function reached(url: string, init?: RequestInit): Promise<Response> {
  const until = performance.now() + UNREACHABLE_MS
  for (;;) {
    const answer = await fetch(url, init).catch((error: unknown) => ({ error }))
    const isThere = !('error' in answer) && (answer.status < 500 || isOfConsole(answer))
    if (isThere) return answer
    const why = 'error' in answer ? String(answer.error) : `${answer.status} ${await answer.text()}`
    process.stderr.write(`${url} was not reached: ${why}\n`)
    if (performance.now() > until) throw new Error(`${url} was not reached: ${why}`)
    await delay(200)
  }
}

function isOfConsole({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('application/json') ?? false
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
  let endings = 0
  beforeEach(() => {
    endings = tests.worker?.endings ?? 0
  })
  afterEach(async ({ task }) => {
    const until = performance.now() + ENDING_MS
    while (task.result?.state === 'fail' && performance.now() < until) {
      if (tests.worker?.endings !== endings) throw new Error(TOOL_ENDED)
      await delay(50)
    }
  })
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
