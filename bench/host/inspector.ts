interface Answer {
  readonly id: number
  readonly result?: { readonly usedSize?: number }
  readonly error?: { readonly message: string }
}

/** Bytes that V8's heap uses after a garbage collection. */
export async function heapBytes(inspector: string | undefined): Promise<number> {
  const response = await fetch(`http://${inspector}/json`)
  const [target] = (await response.json()) as { readonly webSocketDebuggerUrl: string }[]
  if (!target) throw new Error('workerd shows nothing to inspect')
  const socket = new WebSocket(target.webSocketDebuggerUrl)
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', reject)
  })
  try {
    await ask(socket, 1, 'HeapProfiler.collectGarbage')
    const { usedSize } = await ask(socket, 2, 'Runtime.getHeapUsage')
    return usedSize ?? Number.NaN
  } finally {
    socket.close()
  }
}

function ask(socket: WebSocket, id: number, method: string): Promise<NonNullable<Answer['result']>> {
  return new Promise((resolve, reject) => {
    socket.addEventListener('message', ({ data }) => {
      const answer = JSON.parse(String(data)) as Answer
      if (answer.id !== id) return
      if (answer.result) resolve(answer.result)
      else reject(new Error(answer.error?.message))
    })
    socket.send(JSON.stringify({ id, method }))
  })
}
