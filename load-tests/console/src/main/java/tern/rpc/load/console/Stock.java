package tern.rpc.load.console;

/** A service without a provider. A fallback answers the calls to this service. */
public interface Stock {

    int left(String item);
}
