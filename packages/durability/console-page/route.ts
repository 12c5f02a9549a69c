import { useEffect, useState } from 'preact/hooks'

/** Where the viewer is: in the part of the address that never leaves the browser. */
export type Route =
  | { readonly page: 'list' }
  | { readonly page: 'create' }
  | { readonly page: 'schedule' | 'edit'; readonly id: string }

export function addressOf(route: Route): string {
  if (route.page === 'list') return '#/'
  if (route.page === 'create') return '#/new'
  return `#/schedules/${encodeURIComponent(route.id)}${route.page === 'edit' ? '/edit' : ''}`
}

export function routeOf(hash: string): Route {
  if (hash === '#/new') return { page: 'create' }
  const [, encoded, edit] = /^#\/schedules\/([^/]+)(\/edit)?$/.exec(hash) ?? []
  if (encoded === undefined) return { page: 'list' }
  try {
    return { page: edit === undefined ? 'schedule' : 'edit', id: decodeURIComponent(encoded) }
  } catch {
    return { page: 'list' }
  }
}

export function go(route: Route): void {
  location.hash = addressOf(route)
}

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const onChange = () => setHash(location.hash)
    addEventListener('hashchange', onChange)
    return () => removeEventListener('hashchange', onChange)
  }, [])
  return routeOf(hash)
}
