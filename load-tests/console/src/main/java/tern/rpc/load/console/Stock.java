package tern.rpc.load.console;

/** A service without a provider. A fallback answers its calls. */
public interface Stock {

    int left(String item);
}
