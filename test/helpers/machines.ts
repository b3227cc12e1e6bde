/**
 * Machines for tests: Linux network namespaces, each with its own address, on a bridge with this process. The kernel closes the
 * connections of a killed process, but a namespace that is cut off is silent: packets to it are neither answered nor refused, as
 * if its cable were pulled. Needs root and `ip` (Debian: iproute2).
 */
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { promisify } from 'node:util'

const exec = promisify(execFile)

/** Where `ip` keeps its namespaces. */
const FOLDER = '/run/netns'
const PREFIX = 'verbena-'

/** The number of /24 networks in 198.18.0.0/15, which is reserved for benchmarks (RFC 2544) and routed nowhere. */
const NETWORKS = 512

export interface Machine {
	readonly address: string
	/** The command that runs a program in it; the program and its arguments follow. */
	readonly prefix: readonly string[]
	/** Drops all packets to and from it. */
	cut(): Promise<void>
	mend(): Promise<void>
}

/** This machine, on loopback, for programs that need no machine of their own. */
export const HERE: Pick<Machine, 'address' | 'prefix'> = { address: '127.0.0.1', prefix: [] }

export interface Machines {
	readonly all: readonly Machine[]
	/** Removes all, and kills the programs in them. */
	remove(): Promise<void>
}

/** Whether network namespaces can be created. Otherwise a message is printed, and tests of silent machines are skipped. */
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

/** Creates `count` machines that reach each other and this process. */
export async function machines(count: number): Promise<Machines> {
	await removeLeftovers()
	const [network, own] = await Promise.all([freeNetwork(), ownAddress()])
	// Names are never reused, as the kernel removes interfaces with a delay.
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
			...withoutAddress(bridge),
			...(own === undefined ? [`addr add ${network}.1/24 dev ${bridge}`] : []),
			`link set ${bridge} up`,
			...(own === undefined ? [] : [`route add ${network}.0/24 dev ${bridge} src ${own}`]),
		)
		const hosts = [own ?? `${network}.1`, ...names.map((_, at) => `${network}.${at + 2}`)]
		for (const [at, name] of names.entries()) {
			const port = `${bridge}p${at}`
			await ip(
				`netns add ${name}`,
				`link add ${port} type veth peer name eth0 address ${hardware(at + 1)} netns ${name}`,
				...withoutAddress(port),
				`link set ${port} master ${bridge} up`,
				`neigh add ${hosts[at + 1]} lladdr ${hardware(at + 1)} dev ${bridge} nud permanent`,
			)
			// Permanent neighbours: if a cut-off address had to be resolved, "no route to host" would come within seconds.
			const others = hosts.flatMap((host, other) =>
				other === at + 1 ? [] : [`neigh add ${host} lladdr ${hardware(other)} dev eth0 nud permanent`],
			)
			await inside(
				name,
				'link set lo up',
				`addr add ${hosts[at + 1]}/24 dev eth0`,
				'link set eth0 up',
				...(own === undefined ? [] : [`route add ${own}/32 dev eth0`]),
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

/** A locally administered MAC address. */
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

/** Deletes a namespace. Its programs are killed first, as they would keep it alive without a name. */
function destroy(name: string): void {
	for (const pid of silently('ip', 'netns', 'pids', name).split('\n').filter(Boolean)) {
		try {
			process.kill(Number(pid), 'SIGKILL')
		} catch {} // it has ended
	}
	silently('ip', 'netns', 'delete', name)
}

/**
 * An address that this machine has, other than loopback. The bridge gets no address of its own if there is one: when an address
 * appears, Chromium fails all its requests (`net::ERR_NETWORK_CHANGED`), also those of tests that run beside these.
 */
async function ownAddress(): Promise<string | undefined> {
	const { stdout } = await exec('ip', ['-4', '-o', 'addr', 'show', 'scope', 'global', 'up'])
	return / inet (?!198\.1[89]\.)([\d.]+)/.exec(stdout)?.[1]
}

/** Keeps IPv6 from giving it an address. */
const withoutAddress = (device: string): string[] =>
	existsSync('/proc/net/if_inet6') ? [`link set ${device} addrgenmode none`] : []

/** A network without a route. Each process starts searching at a different one. */
async function freeNetwork(): Promise<string> {
	const { stdout } = await exec('ip', ['-4', '-o', 'route', 'show', 'table', 'all'])
	for (let tries = 0; tries < NETWORKS; tries++) {
		const at = (process.pid + tries) % NETWORKS
		const network = `198.${18 + (at >> 8)}.${at & 0xff}`
		if (!stdout.includes(`${network}.`)) return network
	}
	throw new Error('there is no free network')
}

/** Removes the machines and bridges of processes that were killed. */
async function removeLeftovers(): Promise<void> {
	if (!existsSync(FOLDER)) return
	for (const name of readdirSync(FOLDER)) {
		const [, pid, group] = new RegExp(`^${PREFIX}(\\d+)-(\\w+)`).exec(name) ?? []
		if (pid === undefined || existsSync(`/proc/${pid}`)) continue
		destroy(name)
		silently('ip', 'link', 'delete', `vb${pid}${group}`)
	}
}
