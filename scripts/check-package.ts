/**
 * Checks the package as its users get it: packs it, lints the tarball, installs it into a new Worker project and lets
 * that project type-check (under both module resolutions that Workers use), bundle and dry-run a deployment, and
 * simulate its own class in Node.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const bin = join(root, 'node_modules', '.bin')
const work = mkdtempSync(join(tmpdir(), 'durability-package-'))

function run(title: string, cwd: string, command: string, ...args: string[]): void {
  const startedAt = performance.now()
  execFileSync(command, args, {
    cwd,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, CI: 'true' },
  })
  console.log(`ok   ${title} (${((performance.now() - startedAt) / 1_000).toFixed(1)} s)`)
}

function pinned(name: string): string {
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return devDependencies[name]
}

/** The Worker's class ticks at nine on each of three simulated days. */
function checkSimulation(project: string): void {
  const printed = execFileSync('node', ['--conditions=workerd', '--import', './alias.js', 'simulation.ts'], {
    cwd: project,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ticks = printed.split('\n').filter((line) => line.startsWith('tick'))
  const expected = ['01', '02', '03'].map((day) => `tick 2026-01-${day}T09:00:00.000Z`)
  if (ticks.join() !== expected.join()) throw new Error(`The simulation printed other ticks:\n${printed}`)
  console.log(`ok   simulation: ${ticks.join(', ')}`)
}

try {
  run('pack', join(root, 'packages/durability'), 'npm', 'pack', '--silent', '--pack-destination', work)
  const { version } = JSON.parse(readFileSync(join(root, 'packages/durability/package.json'), 'utf8'))
  const tarball = join(work, `durability-${version}.tgz`)
  run('publint', root, join(bin, 'publint'), 'run', tarball, '--strict')
  run('arethetypeswrong', root, join(bin, 'attw'), tarball, '--profile', 'esm-only')

  const project = join(work, 'project')
  mkdirSync(project)
  cpSync(join(root, 'scripts/package-project'), project, { recursive: true })
  const dependencies = {
    durability: `file:${tarball}`,
    croner: pinned('croner'),
    hono: pinned('hono'),
    jose: pinned('jose'),
    typescript: pinned('typescript'),
    '@cloudflare/workers-types': pinned('@cloudflare/workers-types'),
  }
  writeFileSync(
    join(project, 'package.json'),
    JSON.stringify({ private: true, type: 'module', dependencies }),
  )
  run('install the tarball', project, 'npm', 'install', '--silent', '--no-audit', '--no-fund')
  const tsc = join(project, 'node_modules/.bin/tsc')
  run('types, bundler resolution', project, tsc, '--noEmit', '-p', 'tsconfig.json')
  run(
    'types, node resolution',
    project,
    tsc,
    '--noEmit',
    '-p',
    'tsconfig.json',
    '--module',
    'nodenext',
    '--moduleResolution',
    'nodenext',
  )
  run('deploy, dry run', project, join(bin, 'wrangler'), 'deploy', '--dry-run', '--outdir', 'out')
  // Where there is no node:sqlite, as in a Worker, only the entry point for tests may miss it.
  const others = [
    'durability',
    'durability/experimental',
    'durability/cron',
    'durability/utils',
    'durability/schedules',
  ]
  const imports = others.map((entry) => `import '${entry}'`).join(';')
  run(
    'entries without SQLite',
    project,
    'node',
    '--no-experimental-sqlite',
    '--input-type=module',
    '-e',
    imports,
  )
  checkSimulation(project)
} finally {
  rmSync(work, { recursive: true, force: true })
}
