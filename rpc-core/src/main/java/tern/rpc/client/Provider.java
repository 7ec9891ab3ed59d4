package tern.rpc.client;

import tern.rpc.endpoint.Attributes;
import tern.rpc.transport.ClientConnection;

/** A provider of a reference, with its current attributes. */
public record Provider(ClientConnection connection, Attributes attributes) {}
