package tern.rpc.load.console;

/** A service without a provider. A fallback answers the calls to it. */
public interface Stock {

    int left(String item);
}
