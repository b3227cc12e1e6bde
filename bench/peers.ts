/** Who is measured, and what is installed for it. */
import { existsSync, readFileSync } from 'node:fs'

/** A server under `servers/`, and the packages that it runs on. */
export interface Peer {
	readonly name: string
	readonly packages: readonly string[]
}

/** The peer that everything is compared with. */
export const REFERENCE = 'node'

/** All peers, in the order in which they take turns. */
export const PEERS: readonly Peer[] = [
	{ name: REFERENCE, packages: [] },
	{ name: 'verbena', packages: [] },
	{ name: 'fastify', packages: ['fastify'] },
	{ name: 'hono', packages: ['hono', '@hono/node-server'] },
	{ name: 'restana', packages: ['restana', 'body-parser'] },
	{ name: 'koa', packages: ['koa', '@koa/router', '@koa/bodyparser'] },
	{ name: 'express', packages: ['express'] },
]

/** Whether the peers' packages have been installed. */
export function peersInstalled(): boolean {
	return existsSync(new URL('node_modules', import.meta.url))
}

/** The peers' installed packages with their versions: `fastify 5.12.8`. */
export function versionsOf(peers: readonly Peer[]): string[] {
	return [...peers.flatMap(({ packages }) => packages), 'find-my-way'].map(
		(name) => `${name} ${versionOf(name)}`,
	)
}

function versionOf(name: string): string {
	const text = readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url), 'utf8')
	return (JSON.parse(text) as { version: string }).version.replace(/^v/, '')
}
