/* simgrid_peer WORKLOAD NODES GPUS BYTES NVLINK NVLINK_US NIC NIC_US - a collective on SimGrid
 *
 * Plays what ccsim plays, on the same machine: NODES islands of GPUS. Each GPU has a port to
 * its island (NVLINK GB/s) and one to a fabric that never limits (NIC GB/s), and a message takes
 * NVLINK_US or NIC_US from GPU to GPU. Prints the simulated time in microseconds.
 *
 * A rank is an actor. The ends of a message wait for each other, and a sender waits until it has
 * arrived. Options of SimGrid (--cfg=...) may stand anywhere. */
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>

namespace sg = simgrid::s4u;

struct Machine {
    unsigned n_nodes;
    unsigned n_gpus; /* of a node */
    double nvlink_rate;
    double nvlink_latency;
    double nic_rate;
    double nic_latency;
    uint64_t bytes; /* of the collective */
    std::vector<sg::Host *> hosts;

    unsigned n_ranks() const
    {
        return n_nodes * n_gpus;
    }
};

static char nothing; /* what messages carry */

struct Port {
    const sg::Link *out;
    const sg::Link *in;
};

/* The whole latency of a path lies on its first link. */
static Port add_port(sg::NetZone *zone, const std::string &name, double rate, double latency)
{
    return {zone->create_link(name + "-out", rate)->set_latency(latency)->seal(),
            zone->create_link(name + "-in", rate)->set_latency(0)->seal()};
}

static void add_node(sg::NetZone *fabric, Machine &machine, unsigned node)
{
    std::string name = "n" + std::to_string(node);
    sg::NetZone *zone = sg::create_full_zone(name);
    std::vector<sg::Host *> hosts;
    std::vector<Port> ports;

    zone->set_parent(fabric);
    simgrid::kernel::routing::NetPoint *way_out = zone->create_router(name + "-out");
    for (unsigned gpu = 0; gpu < machine.n_gpus; gpu++) {
        std::string gpu_name = name + "-gpu" + std::to_string(gpu);
        Port nic = add_port(zone, gpu_name + "-nic", machine.nic_rate, machine.nic_latency);
        hosts.push_back(zone->create_host(gpu_name, 1e9)->seal());
        ports.push_back(
            add_port(zone, gpu_name + "-nvlink", machine.nvlink_rate, machine.nvlink_latency));
        zone->add_route(hosts[gpu]->get_netpoint(), way_out, nullptr, nullptr,
                        {sg::LinkInRoute(nic.out)}, false);
        zone->add_route(way_out, hosts[gpu]->get_netpoint(), nullptr, nullptr,
                        {sg::LinkInRoute(nic.in)}, false);
    }
    for (unsigned from = 0; from < machine.n_gpus; from++) {
        for (unsigned to = 0; to < machine.n_gpus; to++) {
            if (from != to)
                zone->add_route(
                    hosts[from]->get_netpoint(), hosts[to]->get_netpoint(), nullptr, nullptr,
                    {sg::LinkInRoute(ports[from].out), sg::LinkInRoute(ports[to].in)}, false);
        }
    }
    zone->seal();
    fabric->add_route(zone->get_netpoint(), nullptr, way_out, nullptr, {}, true);
    machine.hosts.insert(machine.hosts.end(), hosts.begin(), hosts.end());
}

static void build(Machine &machine)
{
    sg::NetZone *fabric = sg::create_star_zone("fabric");

    for (unsigned node = 0; node < machine.n_nodes; node++)
        add_node(fabric, machine, node);
    fabric->seal();
}

static std::string box_name(unsigned from, unsigned to)
{
    return std::to_string(from) + ">" + std::to_string(to);
}

/* Sends and receives one message, and waits for both. */
static void exchange(sg::Mailbox *out, sg::Mailbox *in, uint64_t bytes)
{
    sg::CommPtr sending = out->put_async(&nothing, bytes);

    in->get<void>();
    sending->wait();
}

/* @n_steps messages on a ring, in which @rank stands between @before and @after. */
static void go_round(unsigned rank, unsigned before, unsigned after, unsigned n_steps,
                     uint64_t bytes)
{
    sg::Mailbox *out = sg::Mailbox::by_name(box_name(rank, after));
    sg::Mailbox *in = sg::Mailbox::by_name(box_name(before, rank));

    for (unsigned step = 0; step < n_steps; step++)
        exchange(out, in, bytes);
}

static void play_ring(const Machine &machine, unsigned rank)
{
    unsigned n = machine.n_ranks();

    go_round(rank, (rank + n - 1) % n, (rank + 1) % n, 2 * (n - 1), machine.bytes / n);
}

static void play_hierarchical(const Machine &machine, unsigned rank)
{
    unsigned g = machine.n_gpus;
    unsigned n = machine.n_ranks();
    unsigned first = rank / g * g;
    unsigned before = first + (rank - first + g - 1) % g;
    unsigned after = first + (rank - first + 1) % g;

    go_round(rank, before, after, g - 1, machine.bytes / g);
    go_round(rank, (rank + n - g) % n, (rank + g) % n, 2 * (machine.n_nodes - 1),
             machine.bytes / n);
    go_round(rank, before, after, g - 1, machine.bytes / g);
}

/* In round k to rank + k, and from rank - k. */
static void play_pairwise(const Machine &machine, unsigned rank)
{
    unsigned n = machine.n_ranks();

    for (unsigned k = 1; k < n; k++)
        go_round(rank, (rank + n - k) % n, (rank + k) % n, 1, machine.bytes / n);
}

/* In round k to and from rank XOR k; for powers of two. */
static void play_pairwise_xor(const Machine &machine, unsigned rank)
{
    for (unsigned k = 1; k < machine.n_ranks(); k++)
        go_round(rank, rank ^ k, rank ^ k, 1, machine.bytes / machine.n_ranks());
}

/* Everything at once. All messages to a rank have one mailbox, as it does not matter which of
 * them is taken for which. (Comm::sendto_async() needs none, but takes far longer to end.) */
static void play_direct(const Machine &machine, unsigned rank)
{
    unsigned n = machine.n_ranks();
    std::vector<void *> received(n);
    std::vector<sg::CommPtr> messages;
    sg::Mailbox *in = sg::Mailbox::by_name(std::to_string(rank));

    for (unsigned k = 1; k < n; k++) {
        sg::Mailbox *out = sg::Mailbox::by_name(std::to_string((rank + k) % n));
        messages.push_back(out->put_async(&nothing, machine.bytes / n));
        messages.push_back(in->get_async<void>(&received[k]));
    }
    sg::Comm::wait_all(messages);
}

static const std::map<std::string, void (*)(const Machine &, unsigned)> workloads = {
    {"direct", play_direct},     {"hierarchical", play_hierarchical},
    {"pairwise", play_pairwise}, {"pairwise-xor", play_pairwise_xor},
    {"ring", play_ring},
};

static int fail_usage(const char *program)
{
    std::fprintf(stderr, "usage: %s WORKLOAD NODES GPUS BYTES NVLINK NVLINK_US NIC NIC_US\n",
                 program);
    return 2;
}

int main(int argc, char **argv)
{
    sg::Engine engine(&argc, argv); /* takes its own options away */
    if (argc != 9 || workloads.count(argv[1]) == 0)
        return fail_usage(argv[0]);

    Machine machine = {(unsigned)std::atoi(argv[2]),
                       (unsigned)std::atoi(argv[3]),
                       std::atof(argv[5]) * 1e9,
                       std::atof(argv[6]) * 1e-6,
                       std::atof(argv[7]) * 1e9,
                       std::atof(argv[8]) * 1e-6,
                       std::strtoull(argv[4], nullptr, 10),
                       {}};
    build(machine);
    auto play = workloads.at(argv[1]);
    for (unsigned rank = 0; rank < machine.n_ranks(); rank++)
        sg::Actor::create("rank" + std::to_string(rank), machine.hosts[rank],
                          [&machine, play, rank] { play(machine, rank); });
    engine.run();
    std::printf("%.6f\n", sg::Engine::get_clock() * 1e6);
    return 0;
}
