package tern.rpc.load.console;

/** A service without a provider, which a fallback answers. */
public interface Stock {

    int left(String item);
}
