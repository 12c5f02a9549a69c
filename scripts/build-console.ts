/**
 * Bundles the console's page into one module of the package that holds the bytes of its assets, named by their hashes.
 * Fails when they are more than they may be.
 */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const PACKAGE = join(import.meta.dirname, '../packages/durability')
const PAGE = join(PACKAGE, 'console-page')
/** Bytes of all assets, gzipped. */
const MAX_BYTES = 60_000

const { outputFiles } = await build({
  entryPoints: { console: join(PAGE, 'main.tsx') },
  outdir: 'out',
  bundle: true,
  minify: true,
  format: 'esm',
  target: ['es2023', 'chrome125', 'firefox129', 'safari17.5'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  write: false,
})
const built = [
  ...outputFiles.map(({ path, text }) => ({ extension: path.endsWith('.css') ? 'css' : 'js', text })),
  { extension: 'svg', text: readFileSync(join(PAGE, 'icon.svg'), 'utf8') },
]
const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}
const assets = built.map(({ extension, text }) => {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16)
  return { name: `console-${hash}.${extension}`, type: TYPES[extension] ?? '', text }
})
const bytes = assets.reduce((sum, { text }) => sum + gzipSync(text, { level: 9 }).byteLength, 0)
console.log(`The console's assets: ${(bytes / 1_000).toFixed(1)} of ${MAX_BYTES / 1_000} kB gzipped`)
if (bytes > MAX_BYTES) throw new Error('The assets of the console have become too large')

const lines = assets.map((asset) => `  ${JSON.stringify(asset)},`).join('\n')
writeFileSync(
  join(PACKAGE, 'src/console/assets.generated.ts'),
  `// Made by scripts/build-console.ts from console-page.
export const ASSETS: readonly { readonly name: string; readonly type: string; readonly text: string }[] = [
${lines}
]
`,
)
