import { ASSETS } from './assets.generated.ts'
import type { ConsoleApp } from './console.ts'

/** Serves the page and what it loads. They are the same for everyone and hold no data. */
export function servePage(app: ConsoleApp, basePath: string): void {
  const html = pageOf(basePath)
  // With the slash and without: addresses in the page hold the whole path.
  for (const path of ['', '/']) {
    app.get(path, () => {
      return new Response(html, {
        headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' },
      })
    })
  }
  for (const { name, type, text } of ASSETS) {
    app.get(`/assets/${name}`, () => {
      // The name holds a hash of the text.
      const headers = { 'content-type': type, 'cache-control': 'public, max-age=31536000, immutable' }
      return new Response(text, { headers })
    })
  }
}

function pageOf(basePath: string): string {
  const address = (extension: string) => {
    const asset = ASSETS.find(({ name }) => name.endsWith(extension))
    return `${basePath}/assets/${asset?.name}`
  }
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<meta name="console-base" content="${basePath}">
<title>Schedules</title>
<link rel="icon" type="image/svg+xml" href="${address('.svg')}">
<link rel="stylesheet" href="${address('.css')}">
<script type="module" src="${address('.js')}"></script>
</head>
<body>
<div id="app"></div>
<noscript>This page shows schedules and needs JavaScript for that. The API works without.</noscript>
</body>
</html>
`
}
