import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'

/** A connection per call: one that is kept could be closed by the other side just as it is used again. */
const agent = new Agent({ keepAlive: false })

/** Answers the body of the response, however long that takes. Rejects when it is none of success. */
export function post(url: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const call = request(url, { method: 'POST', agent }, (response) => {
      text(response).then((answer) => {
        if (response.statusCode === 200) resolve(answer)
        else reject(new Error(`${response.statusCode} ${answer}`))
      }, reject)
    })
    call.on('error', reject)
    call.end(body)
  })
}
