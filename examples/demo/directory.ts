import { DurableObject } from 'cloudflare:workers'

const MAX_NAMES = 100

/** Objects cannot be listed, so the demo remembers which ones it made. */
export class Directory extends DurableObject {
  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env)
    ctx.storage.sql.exec('CREATE TABLE IF NOT EXISTS names (name TEXT PRIMARY KEY) WITHOUT ROWID')
  }

  /** Resolves to false when the demo has enough schedules. */
  add(name: string): boolean {
    if (this.has(name)) return true
    if (this.list().length >= MAX_NAMES) return false
    this.ctx.storage.sql.exec('INSERT INTO names (name) VALUES (?)', name)
    return true
  }

  has(name: string): boolean {
    return this.ctx.storage.sql.exec('SELECT 1 FROM names WHERE name = ?', name).toArray().length > 0
  }

  list(): string[] {
    const rows = this.ctx.storage.sql.exec<{ name: string }>('SELECT name FROM names ORDER BY name')
    return rows.toArray().map(({ name }) => name)
  }
}
