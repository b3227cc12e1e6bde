/**
 * Machines for tests: network namespaces of Linux, each with an address of its own, on one bridge with this process. Unlike a
 * killed process, whose kernel closes its connections, one that is cut off is silent: nothing that is sent to it is answered or
 * refused, as behind a pulled cable in a routed network. Needs root and `ip` (Debian: iproute2).
 */
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { promisify } from 'node:util'

const exec = promisify(execFile)

/** Where `ip` keeps its namespaces. */
const FOLDER = '/run/netns'
const PREFIX = 'verbena-'

/** 198.18.0.0/15, for benchmarks of networks (RFC 2544), is routed by nobody: as many networks of 254 addresses. */
const NETWORKS = 512

export interface Machine {
	readonly address: string
	/** What runs a program in it, in front of the program and its arguments. */
	readonly prefix: readonly string[]
	/** Makes it silent for all others, and them for it. */
	cut(): Promise<void>
	mend(): Promise<void>
}

/** A program is run here, on loopback: for what needs no machine of its own. */
export const HERE: Pick<Machine, 'address' | 'prefix'> = { address: '127.0.0.1', prefix: [] }

export interface Machines {
	readonly all: readonly Machine[]
	/** Removes all, and kills what still runs in them. */
	remove(): Promise<void>
}

/** Whether there can be machines. Where there can't, that is said aloud, and what needs their silence is skipped. */
export const hasMachines: boolean = areMachinesHere()

function areMachinesHere(): boolean {
	const name = `${PREFIX}${process.pid}-try`
	try {
		execFileSync('ip', ['netns', 'add', name], { stdio: 'pipe' })
		try {
			const veth = ['link', 'add', `vb${process.pid}t`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name]
			execFileSync('ip', veth, { stdio: 'pipe' })
			execFileSync('nsenter', [`--net=${FOLDER}/${name}`, 'true'], { stdio: 'pipe' })
			return true
		} finally {
			execFileSync('ip', ['netns', 'delete', name], { stdio: 'pipe' })
		}
	} catch (error) {
		console.error(
			`SKIPPED: machines that fall silent, as there can be no network namespaces: ${String(error)}`,
		)
		return false
	}
}

let groups = 0

/** Makes so many machines, which reach each other and this process. */
export async function machines(count: number): Promise<Machines> {
	await removeLeftovers()
	const network = await freeNetwork()
	// The kernel takes its time to remove what an earlier call has made.
	const group = `g${++groups}`
	const bridge = `vb${process.pid}${group}`
	const names = Array.from({ length: count }, (_, at) => `${PREFIX}${process.pid}-${group}-${at}`)
	const remove = () => {
		process.off('exit', remove)
		names.forEach(destroy)
		silently('ip', 'link', 'delete', bridge)
	}
	process.on('exit', remove)
	try {
		await ip(
			`link add ${bridge} address ${hardware(0)} type bridge`,
			`addr add ${network}.1/24 dev ${bridge}`,
			`link set ${bridge} up`,
		)
		const hosts = [`${network}.1`, ...names.map((_, at) => `${network}.${at + 2}`)]
		for (const [at, name] of names.entries()) {
			const port = `${bridge}p${at}`
			await ip(
				`netns add ${name}`,
				`link add ${port} type veth peer name eth0 address ${hardware(at + 1)} netns ${name}`,
				`link set ${port} master ${bridge} up`,
				`neigh add ${hosts[at + 1]} lladdr ${hardware(at + 1)} dev ${bridge} nud permanent`,
			)
			// Where addresses are looked for on the wire, "no route to host" comes within seconds.
			const others = hosts.flatMap((host, other) =>
				other === at + 1 ? [] : [`neigh add ${host} lladdr ${hardware(other)} dev eth0 nud permanent`],
			)
			await inside(
				name,
				'link set lo up',
				`addr add ${hosts[at + 1]}/24 dev eth0`,
				'link set eth0 up',
				...others,
			)
		}
	} catch (error) {
		remove()
		throw error
	}
	const all = names.map((name, at): Machine => {
		const link = (state: 'up' | 'down') => ip(`link set ${bridge}p${at} ${state}`)
		return {
			address: `${network}.${at + 2}`,
			prefix: ['nsenter', `--net=${FOLDER}/${name}`, '--'],
			cut: () => link('down'),
			mend: () => link('up'),
		}
	})
	return { all, remove: async () => remove() }
}

/** A hardware address of the kind that anyone may use. */
function hardware(at: number): string {
	const bytes = [0x02, 0x76, 0x62, (process.pid >> 8) & 0xff, process.pid & 0xff, at]
	return bytes.map((byte) => byte.toString(16).padStart(2, '0')).join(':')
}

async function ip(...commands: readonly string[]): Promise<void> {
	for (const command of commands) await exec('ip', command.split(' '))
}

const inside = (name: string, ...commands: readonly string[]): Promise<void> =>
	ip(...commands.map((command) => `-n ${name} ${command}`))

function silently(program: string, ...args: readonly string[]): string {
	try {
		return execFileSync(program, args, { stdio: ['ignore', 'pipe', 'ignore'], encoding: 'utf8' })
	} catch {
		return ''
	}
}

/** A namespace without a name lives on with the programs in it: as what a failed test has left. */
function destroy(name: string): void {
	for (const pid of silently('ip', 'netns', 'pids', name).split('\n').filter(Boolean)) {
		try {
			process.kill(Number(pid), 'SIGKILL')
		} catch {} // it has ended
	}
	silently('ip', 'netns', 'delete', name)
}

/** Each process begins at another one; what other processes have is among the addresses. */
async function freeNetwork(): Promise<string> {
	const { stdout } = await exec('ip', ['-4', '-o', 'route', 'show', 'table', 'all'])
	for (let tries = 0; tries < NETWORKS; tries++) {
		const at = (process.pid + tries) % NETWORKS
		const network = `198.${18 + (at >> 8)}.${at & 0xff}`
		if (!stdout.includes(`${network}.`)) return network
	}
	throw new Error('there is no free network')
}

/** Removes the machines of processes that were killed. Their bridges have no ports left then. */
async function removeLeftovers(): Promise<void> {
	if (!existsSync(FOLDER)) return
	for (const name of readdirSync(FOLDER)) {
		const [, pid, group] = new RegExp(`^${PREFIX}(\\d+)-(\\w+)`).exec(name) ?? []
		if (pid === undefined || existsSync(`/proc/${pid}`)) continue
		destroy(name)
		silently('ip', 'link', 'delete', `vb${pid}${group}`)
	}
}
