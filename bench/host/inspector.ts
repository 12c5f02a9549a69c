interface Answer {
  readonly id: number
  readonly result?: { readonly usedSize?: number }
  readonly error?: { readonly message: string }
}

/**
 * Bytes that V8's heap uses after a garbage collection. `wake` makes the Worker do something: an idle one does not look
 * at what the inspector asks.
 */
export async function heapBytes(
  inspector: string | undefined,
  wake: () => Promise<unknown>,
): Promise<number> {
  const response = await fetch(`http://${inspector}/json`)
  const [target] = (await response.json()) as { readonly webSocketDebuggerUrl: string }[]
  if (!target) throw new Error('workerd shows nothing to inspect')
  const socket = new WebSocket(target.webSocketDebuggerUrl)
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', reject)
  })
  try {
    await ask(socket, 1, 'HeapProfiler.collectGarbage', wake)
    const { usedSize } = await ask(socket, 2, 'Runtime.getHeapUsage', wake)
    return usedSize ?? Number.NaN
  } finally {
    socket.close()
  }
}

function ask(
  socket: WebSocket,
  id: number,
  method: string,
  wake: () => Promise<unknown>,
): Promise<NonNullable<Answer['result']>> {
  return new Promise((resolve, reject) => {
    socket.addEventListener('message', ({ data }) => {
      const answer = JSON.parse(String(data)) as Answer
      if (answer.id !== id) return
      if (answer.result) resolve(answer.result)
      else reject(new Error(answer.error?.message))
    })
    socket.send(JSON.stringify({ id, method }))
    wake().catch(reject)
  })
}
