package com.example.office;

import tern.rpc.spring.RpcService;

/** A provider that responds late while {@link Fault#PROVIDER} is injected. */
@RpcService
public class StoreBean implements Store {

    @Override
    public int stock(int item) {
        Fault.PROVIDER.pauseIfInjected();
        return item;
    }
}
