/**
 * A server process of a soak that is broken on purpose, by what `SOAK_FAULTS` names: `leak`, `rejection`, `wrong`
 * (of each 100 requests one answer), `blocked` (200 ms of each second).
 */

import { Office } from '../../../bench/soak/server/office.ts'
import type { Materials } from '../../../bench/soak/server/serve.ts'
import { serve } from '../../../bench/soak/server/serve.ts'
import { handlersOf, serverOf } from '../../../bench/soak/server/site.ts'
import type { Server } from '../../../lib/index.ts'

const faults = new Set((process.env.SOAK_FAULTS ?? '').split(','))
/** Wrong answers that are due. */
const state = { requests: 0, due: 0 }
const kept: unknown[] = []

class Broken extends Office {
	override get_echo(...words: string[]) {
		// 800 kB.
		if (faults.has('leak')) kept.push(new Array(100_000).fill(kept.length))
		if (faults.has('rejection')) void Promise.reject(new Error('nobody listens'))
		if (state.due === 0) return super.get_echo(...words)
		state.due--
		return super.get_echo(...words, 'too much')
	}
}

async function brokenSite(materials: Materials): Promise<Server> {
	const server = serverOf({ ...(await handlersOf(materials)), office: new Broken() }, materials)
	if (faults.has('wrong'))
		server.on('request', () => {
			if (++state.requests % 100 === 0) state.due++
		})
	if (faults.has('blocked')) setInterval(block, 1_000).unref()
	return server
}

function block(): void {
	const end = performance.now() + 200
	while (performance.now() < end);
}

await serve(brokenSite)
