package tern.rpc.netty;

import tern.rpc.transport.CallHandler;

/**
 * What the connections to one port of a server have in common. Thread-safe.
 *
 * @param handler serves their calls
 * @param counters of all of them
 * @param budget of the memory for their requests
 * @param strangers the same for those of which nobody knows yet who is at their other end
 * @param heads memory for the headers of requests that are open
 * @param unsent memory for answers that clients have not taken
 * @param tenants whose shares of the server their calls count to
 * @param idle closes those that are idle for long
 */
record ServerPort(
        ServerTransportSettings settings,
        CallHandler handler,
        NettyServerTransport.Counters counters,
        InboundBudget budget,
        InboundBudget strangers,
        FairBudget heads,
        UnsentBudget unsent,
        Tenancy.Of tenants,
        IdleSweep idle) {}
