/**
 * Checks the package as its users get it: packs it, lints the tarball, installs it into a new Worker project and lets
 * that project type-check (under both module resolutions that Workers use), bundle and dry-run a deployment.
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
} finally {
  rmSync(work, { recursive: true, force: true })
}
