import { build } from 'esbuild'

/** The Worker as wrangler would bundle it. `alias`: modules to take from elsewhere. */
export async function bundle(entry: string, alias: Readonly<Record<string, string>> = {}): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    format: 'esm',
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['cloudflare:*', 'node:*'],
    alias,
    write: false,
  })
  const [file] = outputFiles
  if (!file) throw new Error(`${entry} made no bundle`)
  return file.text
}
