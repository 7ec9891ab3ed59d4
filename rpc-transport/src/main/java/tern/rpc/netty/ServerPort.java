package tern.rpc.netty;

import tern.rpc.transport.CallHandler;

/**
 * The common state of the connections to one port of a server. Thread-safe.
 *
 * @param handler serves their calls
 * @param counters the counters over all connections
 * @param budget the memory for their requests
 * @param strangers the memory for requests on connections without an authenticated caller
 * @param heads the memory for headers of open requests
 * @param unsent the memory for answers that clients have not taken
 * @param tenants the tenants that share the server
 * @param idle closes idle connections
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
