/**
 * Prisma's relational queries, without its Rust engine: the client compiles queries in WebAssembly and runs them through pg.
 * `relationJoins`, one statement with `lateral`, took half the time of its default of three statements.
 */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { PrismaPg } from '@prisma/adapter-pg'
import { serve } from './serve.js'

const NEWEST = [{ created: 'desc' }, { id: 'desc' }]
const WITH = {
	relationLoadStrategy: 'join',
	include: { author: true, comments: { take: 5, orderBy: NEWEST } },
}

export async function start({ url }) {
	generate()
	const { PrismaClient } = await import('../../results/prisma/index.js')
	const { article } = new PrismaClient({ adapter: new PrismaPg({ connectionString: url }) })
	return serve({
		list: (take, skip) => article.findMany({ ...WITH, take, skip, orderBy: NEWEST }),
		read: (id) => article.findUnique({ ...WITH, where: { id } }),
	})
}

/** Prisma generates its client from the schema. */
function generate() {
	const path = (name) => fileURLToPath(new URL(name, import.meta.url))
	const command = path('../../node_modules/prisma/build/index.js')
	execFileSync(process.execPath, [command, 'generate', '--schema', path('schema.prisma')], {
		stdio: ['ignore', 'ignore', 2],
		// Prisma would download its schema engine, which generating doesn't need: any executable prevents that.
		env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' },
	})
}
