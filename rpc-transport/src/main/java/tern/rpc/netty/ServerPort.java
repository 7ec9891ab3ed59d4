package tern.rpc.netty;

import tern.rpc.transport.CallHandler;

/**
 * The objects shared by all connections to one server port. Thread-safe.
 *
 * @param handler executes the calls
 * @param counters the counters for all connections
 * @param budget the memory budget for requests
 * @param strangers the memory budget for requests on connections whose caller is not authenticated
 * @param heads the memory budget for headers of open requests
 * @param unsent the memory budget for answers that clients have not read
 * @param tenants the tenants of the server
 * @param idle closes idle connections
 */
record ServerPort(
        ServerTransportSettings settings,
        CallHandler handler,
        ServerCounters counters,
        InboundBudget budget,
        InboundBudget strangers,
        FairBudget heads,
        UnsentBudget unsent,
        Tenancy.Of tenants,
        IdleSweep idle) {}
