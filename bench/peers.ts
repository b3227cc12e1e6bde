/** The peers, and the packages that are installed for them. */
import { existsSync, readFileSync } from 'node:fs'

/** A server, and the packages that it runs on. */
export interface Peer {
	readonly name: string
	/** Its file under `servers/`, without the ending. */
	readonly server: string
	readonly packages: readonly string[]
}

/** The peer that every workload without a database is compared with. */
export const REFERENCE = 'node'

/** Peers of the workloads without a database, in the order in which they take turns; the reference first. */
export const PEERS: readonly Peer[] = [
	peer(REFERENCE, []),
	peer('verbena', []),
	peer('fastify', ['fastify']),
	peer('hono', ['hono', '@hono/node-server']),
	peer('restana', ['restana', 'body-parser']),
	peer('koa', ['koa', '@koa/router', '@koa/bodyparser']),
	peer('express', ['express']),
]

/** Peers of CRUD: the first, Fastify with the database's driver by hand, is the reference. */
export const CRUD_PEERS: readonly Peer[] = [
	peer('fastify', ['fastify', 'pg', 'mysql2', 'libsql'], 'crud/'),
	peer('verbena', [], 'crud/'),
	peer('expert', ['dataloader'], 'crud/'),
	peer('feathers', ['@feathersjs/feathers', '@feathersjs/knex', '@feathersjs/koa', 'knex'], 'crud/'),
	peer('express', ['express'], 'crud/'),
]

/** Peers of related records: the first, one statement by hand, is the reference. */
export const RELATED_PEERS: readonly Peer[] = [
	peer('expert', ['fastify', 'pg', 'mysql2', 'libsql'], 'related/'),
	peer('gathered', ['dataloader'], 'related/'),
	peer('verbena', [], 'related/'),
	peer('fastify', ['fastify'], 'related/'),
	peer('prisma', ['prisma', '@prisma/client', '@prisma/adapter-pg'], 'related/'),
	peer('drizzle', ['drizzle-orm'], 'related/'),
]

/** Answers reads of one record and nothing else. */
export const BARE: Peer = peer('bare', [], 'crud/')

function peer(name: string, packages: readonly string[], folder = ''): Peer {
	return { name, server: folder + name, packages }
}

/** Whether the peers' packages have been installed. */
export function peersInstalled(): boolean {
	return existsSync(new URL('node_modules', import.meta.url))
}

/** The peers' installed packages with their versions: `fastify 5.12.8`. */
export function versionsOf(peers: readonly Peer[]): string[] {
	const names = new Set([...peers.flatMap(({ packages }) => packages), 'find-my-way'])
	return [...names].map((name) => `${name} ${versionOf(name)}`)
}

function versionOf(name: string): string {
	const text = readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url), 'utf8')
	return (JSON.parse(text) as { version: string }).version.replace(/^v/, '')
}
