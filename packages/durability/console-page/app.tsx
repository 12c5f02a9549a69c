import { useEffect, useRef, useState } from 'preact/hooks'
import { token } from './api.ts'
import { SchedulesChip } from './chip.tsx'
import { Editor, EditPage } from './editor.tsx'
import { useLive } from './hooks.ts'
import { Notice, Text } from './parts.tsx'
import { addressOf, type Route, useRoute } from './route.ts'
import { SchedulePage } from './schedule-page.tsx'
import { live } from './session.ts'
import { forgetFilters, ScheduleTable } from './table.tsx'
import { closeAll, Toasts } from './toasts.tsx'

export function App() {
  const route = useRoute()
  const { state, lost, failed, refusal, hasPage } = useLive()
  useEffect(() => {
    live.start()
    const look = () => {
      // Whoever does not look costs nothing.
      if (document.hidden) live.stop()
      else live.start()
    }
    document.addEventListener('visibilitychange', look)
    addEventListener('online', look)
    return () => {
      document.removeEventListener('visibilitychange', look)
      removeEventListener('online', look)
      live.stop()
    }
  }, [])
  useEffect(() => {
    document.title = titleOf(route)
    document.querySelector('main')?.focus({ preventScroll: true })
    scrollTo(0, 0)
  }, [route.page, 'id' in route ? route.id : ''])
  const isOpen = state === 'loading' || state === 'ready'
  useEffect(() => {
    // A dialog on the hidden page would keep everything else from being used.
    if (!isOpen) for (const dialog of document.querySelectorAll('dialog')) dialog.close()
    // The form that had the focus is gone.
    if (isOpen && document.activeElement === document.body) document.querySelector('main')?.focus()
  }, [isOpen])
  return (
    <>
      <header class="bar">
        <a class="brand" href={addressOf({ page: 'list' })}>
          Schedules
        </a>
        {isOpen && <SchedulesChip />}
        <span class="space" />
        {token.get() !== null && (
          <button
            type="button"
            class="plain"
            onClick={() => {
              token.clear()
              forgetFilters()
              closeAll()
              live.signOut()
            }}
          >
            Sign out
          </button>
        )}
      </header>
      {isOpen && lost !== undefined && (
        <Notice kind="bad">Connection lost: {lost}. What is shown may be old; trying again.</Notice>
      )}
      {isOpen && refusal !== undefined && (
        <Notice kind="bad">
          Refused: <Text>{refusal}</Text>. What is shown may be old; trying again.
        </Notice>
      )}
      {isOpen && failed.length > 0 && (
        <Notice kind="bad">
          Not everything can be shown: <Text>{failed.join('; ')}</Text>
        </Notice>
      )}
      <main tabIndex={-1}>
        {state === 'unauthenticated' && <TokenForm refusal={refusal} isBack={hasPage} />}
        {state === 'forbidden' && <Forbidden refusal={refusal} />}
        {/* Hidden, a page keeps what was typed until the viewer is let in again. */}
        {(isOpen || hasPage) && (
          <div hidden={!isOpen}>
            <Page route={route} />
          </div>
        )}
      </main>
      <Toasts />
    </>
  )
}

function Page({ route }: { readonly route: Route }) {
  switch (route.page) {
    case 'schedule':
      return <SchedulePage key={route.id} id={route.id} />
    case 'edit':
      return <EditPage key={route.id} id={route.id} />
    case 'create':
      return <Editor />
    default:
      return <ScheduleTable />
  }
}

function titleOf(route: Route): string {
  if ('id' in route) return `${route.id.slice(0, 80)} · Schedules`
  return route.page === 'create' ? 'New schedule · Schedules' : 'Schedules'
}

interface TokenFormProps {
  readonly refusal: string | undefined
  /** The viewer was signed in before. */
  readonly isBack: boolean
}

/** What a header can hold, and a token may be. */
const SENDABLE = /^[\x21-\x7e]+$/

function TokenForm({ refusal, isBack }: TokenFormProps) {
  const [value, setValue] = useState('')
  const isRefused = isBack || token.get() !== null
  const isSendable = value.trim() === '' || SENDABLE.test(value.trim())
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => input.current?.focus(), [])
  return (
    <form
      class="sign-in"
      onSubmit={(event) => {
        event.preventDefault()
        token.set(value.trim())
        live.restart()
      }}
    >
      <h1>Sign in</h1>
      <p class="quiet">The token is kept in this tab only.</p>
      {isRefused && <Notice kind="bad">{refusal}</Notice>}
      {!isSendable && (
        <Notice kind="bad">A token holds letters without accents, digits and signs only.</Notice>
      )}
      <label>
        Token
        <input
          ref={input}
          type="password"
          autocomplete="current-password"
          value={value}
          onInput={(event) => setValue(event.currentTarget.value)}
        />
      </label>
      <p class="buttons">
        <button type="submit" class="primary" disabled={value.trim() === '' || !isSendable}>
          Sign in
        </button>
      </p>
    </form>
  )
}

function Forbidden({ refusal }: { readonly refusal: string | undefined }) {
  return (
    <section class="empty">
      <h1>You may not see the schedules</h1>
      <p>{refusal}</p>
      <button type="button" onClick={() => live.restart()}>
        Try again
      </button>
    </section>
  )
}
