package com.example.office;

import tern.rpc.spring.RpcService;

/** Answers late if {@link Fault#PROVIDER} is planted. */
@RpcService
public class StoreBean implements Store {

    @Override
    public int stock(int item) {
        Fault.PROVIDER.pauseIfPlanted();
        return item;
    }
}
