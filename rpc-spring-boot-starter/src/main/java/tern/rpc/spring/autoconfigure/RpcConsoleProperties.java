package tern.rpc.spring.autoconfigure;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties of the separate module tern-rpc-console. The starter declares these properties, because it checks the
 * names of all properties.
 *
 * @param callInProduction Whether the console may make calls while the profile prod, production, live or prd is active.
 *     The endpoint's access must also be unrestricted.
 */
@ConfigurationProperties("rpc.console")
public record RpcConsoleProperties(@DefaultValue("false") boolean callInProduction) {}
