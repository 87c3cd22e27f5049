import argparse
import asyncio

from dakghor.service import Service
from dakghor.settings import load


def main():
    parser = argparse.ArgumentParser(prog="dakghor")
    parser.add_argument("--config", default="config.json")
    args = parser.parse_args()
    asyncio.run(Service(load(args.config)).run())


if __name__ == "__main__":
    main()
